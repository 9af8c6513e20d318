"""A support bot refunds EUR 349 for a pair of headphones that cost EUR 49. Why?

The amount comes from another customer's order in an old ticket that the search brought up. Then::

    runtape why last tool:refund --exact-args --model-fn examples/refund_bot.py:simulated_model
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

from harness import Story, main

from runtape.demo.standin import Answer, View, noisy, view

SYSTEM = (
    "You are the support bot of Loudly, a shop for headphones. Look up the customer's orders and "
    "earlier tickets before you refund anything. Refund only what the customer paid."
)
TASK = "Hi, Maria Lopez here (maria.lopez@mail.example). My headphones broke. Please refund them."

ORDERS = [
    {"order": "A-1001", "item": "USB-C cable, 2 m", "paid": "EUR 9.90", "date": "2026-08-03"},
    {
        "order": "A-1044",
        "item": "Breeze headphones, black",
        "paid": "EUR 49.00",
        "date": "2026-09-12",
    },
]
TICKETS = [
    {
        "ticket": 7120,
        "from": "maria.lopez@mail.example",
        "text": "Asked whether the Breeze comes in green. Told her: in spring.",
    },
    {
        "ticket": 6904,
        "from": "mario.lopez@post.example",
        "text": (
            "Left earcup stayed silent. Order B-2207, Storm headphones, paid EUR 349.00. Refund "
            "approved by the store manager."
        ),
    },
    {
        "ticket": 6533,
        "from": "m.lopez@mail.example",
        "text": "Wanted an invoice for a cable. Sent it again.",
    },
]


def find_orders(email: str) -> str:
    """List the orders of a customer."""
    return json.dumps(ORDERS if email == "maria.lopez@mail.example" else [])


def search_tickets(name: str) -> str:
    """Search earlier support tickets."""
    return json.dumps([t for t in TICKETS if name.rsplit(maxsplit=1)[-1].lower() in t["from"]])


def refund(amount: float, reason: str) -> str:
    """Refund an amount in EUR to the customer."""
    return f"EUR {amount:.2f} refunded ({reason})."


TOOLS = (find_orders, search_tickets, refund)

_PAID = re.compile(r"headphones[^{}]{0,30}?paid\W+EUR (\d+\.\d\d)")
_EMAIL = "maria.lopez@mail.example"


def simulated_model(request: dict[str, Any]) -> Answer:
    """Take the price that was read last, whoever's it is; ``STANDIN_NOISE`` makes it waver.

    Only a system prompt that names find_orders keeps it to the customer's own orders.
    """
    noise = float(os.environ.get("STANDIN_NOISE", "0"))
    return noisy(_last_price, _first_price, noise)(request) if noise else _last_price(request)


def _last_price(request: dict[str, Any]) -> Answer:
    return _answer(view(request), newest=True)


def _first_price(request: dict[str, Any]) -> Answer:
    return _answer(view(request), newest=False)


def _answer(seen: View, *, newest: bool) -> Answer:
    if not seen.user:
        return "Hello! How can I help?"
    if seen.result("find_orders", email=_EMAIL) is None:
        return {"tool": "find_orders", "arguments": {"email": _EMAIL}}
    if seen.result("search_tickets", name="Maria Lopez") is None:
        return {"tool": "search_tickets", "arguments": {"name": "Maria Lopez"}}
    if seen.called("refund"):
        return "I have refunded your headphones. Sorry for the trouble!"
    own = seen.result("find_orders", email=_EMAIL) or ""
    prices = _PAID.findall(own if "find_orders" in seen.system else seen.read)
    if not prices:
        return "I can't find headphones among your orders. Could you send me the order number?"
    amount = float(prices[-1 if newest else 0])
    return {"tool": "refund", "arguments": {"amount": amount, "reason": "broken headphones"}}


STORY = Story("refund-bot", SYSTEM, TASK, TOOLS, simulated_model)

if __name__ == "__main__":
    main(STORY)
