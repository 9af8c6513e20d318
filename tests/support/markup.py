"""Texts that attack a page or a Markdown renderer; and what a page may consist of."""

from __future__ import annotations

from html.parser import HTMLParser

OWNED = "owned-by-the-trace"
"""What a script of a payload would leave behind in the page."""


def payloads(server: str) -> dict[str, str]:
    """Attacks by name; what they would fetch is at `server`."""
    run = f"document.title='{OWNED}';document.body.dataset.x='{OWNED}'"
    return {
        "script": f"<script>{run}</script>",
        "close_style": f"</style><script>{run}</script>",
        "close_title": f"</title><script>{run}</script>",
        "close_svg": f"</title></text></svg><script>{run}</script>",
        "cdata": f"]]><script>{run}</script><![CDATA[",
        "comment": f"--><script>{run}</script><!--",
        "img": f'<img src="{server}/img.png" onerror="{run}">',
        "img_bare": f"<img src=x onerror={run}>",
        "svg_load": f'<svg onload="{run}"><animate onbegin="{run}" attributeName=x dur=1s></svg>',
        "attribute": f'" onmouseover="{run}" autofocus onfocus="{run}" x="',
        "single": f"' onfocus='{run}' autofocus x='",
        "backtick": f"` onfocus=`{run}` autofocus",
        "link": f"[x](javascript:{run}) javascript:{run}",
        "frame": f'<iframe src="{server}/frame" srcdoc="<script>parent.{run}</script>"></iframe>',
        "stylesheet": f'<link rel=stylesheet href="{server}/a"><style>@import "{server}/b";',
        "css_url": f"}} * {{ background: url({server}/c.png) }}",
        "base": f'<base href="{server}/"><meta http-equiv=refresh content="0;url={server}/go">',
        "form": f'<form action="{server}/f"><button autofocus>x</button></form>',
        "entity": "&lt;script&gt; &#60;script&#62; &amp;lt; &",
        "unclosed": "<b><i><table><td><!-- <textarea> <noscript> <plaintext>",
        "template": "{{7*7}} ${7*7} <%= 7*7 %>",
        "fence": "```\n````\n</details>\n@everyone #1 <!-- x\n~~~~",
        "image_markdown": f"![x]({server}/md.png)\n\n[x]: {server}/ref",
    }


_NAMES = """
html head meta title style body header main footer section aside p b h1 h2 h3 a code pre dl dt dd
blockquote figure figcaption mark span table caption tbody tr th td ul ol li div details summary
svg rect
"""
ELEMENTS = frozenset(_NAMES.split())
"""All that a page is made of."""


class Seen(HTMLParser):
    """Element names, attributes and the title of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.title = ""
        self._inside = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        """Note it."""
        self.elements.add(tag)
        self.attributes |= {(name, value or "") for name, value in attrs}
        self._inside = tag

    def handle_data(self, data):
        """The text of the first title."""
        if self._inside == "title" and not self.title:
            self.title = data

    def dangers(self) -> list[str]:
        """Elements and attributes that have no place in a page."""
        found = [f"<{name}>" for name in self.elements - ELEMENTS]
        for name, value in self.attributes:
            followed = name in {"href", "src", "action", "data", "srcdoc"}
            if name.startswith("on") or name == "style" or (followed and value[:1] != "#"):
                found.append(f"{name}={value}")
        return found
