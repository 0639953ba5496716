"""Docstrings of public names: every parameter is described."""

import inspect
import re

import pytest

import lpcfg
from lpcfg.parameters.parameterized import Parameterized

NAMES = [
    name
    for name in lpcfg.__all__
    if not name.startswith("_") and not inspect.ismodule(getattr(lpcfg, name))
]
CLASSES = [name for name in NAMES if inspect.isclass(getattr(lpcfg, name))]
FUNCTIONS = [name for name in NAMES if name not in CLASSES]


def parameters(function):
    """The names of parameters that callers may give."""
    try:
        listed = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [
        parameter.name
        for parameter in listed
        if parameter.name not in ("self", "cls")
        and not parameter.name.startswith("_")
        and parameter.kind not in variable
    ]


def undescribed(names, text):
    return [name for name in names if not re.search(rf"\b{name}\b", text)]


def attribute_comments(cls):
    """The attributes that have a comment of their own, before or after them."""
    before = re.compile(r"#:[^\n]*\n    (\w+): ")
    after = re.compile(r'^    (\w+): [^\n]*\n    """', re.MULTILINE)
    return " ".join(
        name
        for kind in cls.__mro__
        if kind.__module__.startswith("lpcfg")
        for pattern in (before, after)
        for name in pattern.findall(inspect.getsource(kind))
    )


def class_text(cls):
    texts = [kind.__doc__ or "" for kind in cls.__mro__ if kind.__module__.startswith("lpcfg")]
    return "\n".join([*texts, attribute_comments(cls)])


def method_text(cls, name):
    """The docstring of a method, of the methods that it overrides, and of those it refers to."""
    texts = [
        inspect.getdoc(getattr(kind, name)) or "" for kind in cls.__mro__ if hasattr(kind, name)
    ]
    others = re.findall(r"as for :meth:`(\w+)`", " ".join(" ".join(texts).split()))
    return "\n".join([*texts, *(method_text(cls, other) for other in others if other != name)])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_of_functions_are_described(name):
    function = getattr(lpcfg, name)
    text = inspect.getdoc(function) or ""
    assert text
    for other in re.findall(r"as for :func:`(?:lpcfg\.)?(\w+)`", " ".join(text.split())):
        text += inspect.getdoc(getattr(lpcfg, other)) or ""
    assert undescribed(parameters(function), text) == []


@pytest.mark.parametrize("name", CLASSES)
def test_parameters_of_classes_are_described(name):
    cls = getattr(lpcfg, name)
    if issubclass(cls, Exception):
        return
    declared = cls.parameters() if issubclass(cls, Parameterized) else {}
    names = [parameter for parameter in parameters(cls) if parameter not in declared]
    assert undescribed(names, class_text(cls)) == []
    # Declared parameters have a text of their own, with the values that they may have.
    assert all(parameter.help and str(parameter.constraint) for parameter in declared.values())


@pytest.mark.parametrize("name", CLASSES)
def test_parameters_of_methods_are_described(name):
    cls = getattr(lpcfg, name)
    missing = {}
    for method in dir(cls):
        found = inspect.getattr_static(cls, method)
        function = getattr(found, "__func__", found)
        if method.startswith("_") or not inspect.isfunction(function):
            continue
        if not function.__module__.startswith("lpcfg"):
            continue
        names = undescribed(parameters(function), method_text(cls, method))
        if names:
            missing[method] = names
    assert missing == {}
