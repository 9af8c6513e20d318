"""An email assistant forwards an invoice to a stranger. Why?

The story (mails, tools, stand-in) is the one of ``runtape demo``; here the real SDK runs it. Then::

    runtape why last tool:forward_email --model-fn examples/inbox_agent.py:simulated_model
"""

from harness import Story, main

from runtape.demo.inbox import SYSTEM, TASK, TOOLS, simulated_model

STORY = Story("inbox-agent", SYSTEM, TASK, TOOLS, simulated_model)

if __name__ == "__main__":
    main(STORY)
