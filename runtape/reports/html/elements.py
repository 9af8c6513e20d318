"""Elements of a page, escaped by construction: the one place where text becomes markup.

Text is text: a `str` among the children, or as the value of an attribute, can never open a tag, end
one, or leave its attribute, whatever it holds. Characters a reader would not see are made visible
on the way. Only a :class:`StyleSheet` stands as it is, and that is a file of this package.

What is written is HTML (https://html.spec.whatwg.org, "Serializing HTML fragments") and, where no
void element is used, well-formed XML as well: an SVG is made of the same elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import TypeAlias, Union

from runtape.visible import visible

_VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "wbr"})
"""Elements without an end tag."""
_LINKS = frozenset({"action", "data", "formaction", "href", "src", "xlink:href"})
"""Attributes a browser follows: only places within the page."""

Child: TypeAlias = Union["Element", "StyleSheet", str, None]


@dataclass(frozen=True, slots=True)
class Element:
    """An element; names are ours, children and values are anybody's."""

    name: str
    attributes: tuple[tuple[str, str], ...]
    children: tuple[Child, ...]

    def __str__(self) -> str:
        return "".join(_written(self))


@dataclass(frozen=True, slots=True)
class StyleSheet:
    """The text of a style element, which HTML reads as it is; from a file of this package.

    Raises ValueError for a text that could end the element.
    """

    text: str

    def __post_init__(self) -> None:
        if "<" in self.text or "&" in self.text:
            raise ValueError(
                "a style sheet with < or & could end its element, or mean another text"
            )


def tag(
    name: str, /, *children: Child | Iterable[Child], **attributes: str | int | bool | None
) -> Element:
    """An element.

    Args:
        name: of the element.
        children: text, elements, or iterables of both; None is nothing.
        attributes: values by name; ``class_`` is ``class``, other underscores are hyphens. None and
            False leave the attribute out, True writes it without a value.

    Raises:
        ValueError: an attribute that could run something, or lead out of the page.
    """
    pairs = [
        (_attribute(key), "" if value is True else str(value))
        for key, value in attributes.items()
        if value is not None and value is not False
    ]
    for key, value in pairs:
        if key.startswith("on") or key == "style" or (key in _LINKS and value[:1] != "#"):
            raise ValueError(f"a page has no attribute {key}={value!r}")
    return Element(name, tuple(pairs), tuple(_flat(children)))


def _attribute(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _flat(children: Iterable[Child | Iterable[Child]]) -> Iterator[Child]:
    for child in children:
        if child is None or isinstance(child, str | Element | StyleSheet):
            yield child
        else:
            yield from child


def _written(child: Child) -> Iterator[str]:
    if child is None:
        return
    if isinstance(child, str):
        yield escape(visible(child).text)
    elif isinstance(child, StyleSheet):
        yield child.text
    else:
        yield from _element(child)


def _element(element: Element) -> Iterator[str]:
    values = (f' {key}="{escape(visible(value).text)}"' for key, value in element.attributes)
    yield f"<{element.name}{''.join(values)}>"
    if element.name in _VOID:
        return
    for child in element.children:
        yield from _written(child)
    yield f"</{element.name}>"
