"""The reference pages that are made from the code: commands, declaration, parts, dumps, errors."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, cast

import typer

from weftline import declare
from weftline.adopt import FORMS
from weftline.adopt.survey import EXACTNESS
from weftline.app.explain import Explanation, read_explanations
from weftline.cli.verbs import app
from weftline.model.parts import AsicPart, Catalog, Part, PlatformPart

MADE = "<!-- Made from the code: do not edit. -->\n\n"


def write_pages(docs: Path) -> None:
    """Write every generated page under ``reference/generated``."""
    folder = docs / "reference" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    pages = {
        "commands.md": command_page(),
        "declaration.md": declaration_page(declare.spec_schema()),
        "parts.md": parts_page(declare.load_catalog()),
        "dumps.md": dump_page(),
        "errors.md": error_page(read_explanations()),
    }
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != MADE + text:
            path.write_text(MADE + text, encoding="utf-8")


def command_page() -> str:
    """Describe every command, its arguments and its options."""
    group = cast("Any", typer.main.get_command(app))
    parts = ["# Commands\n", f"{group.help}\n", "`weftline <verb> [PLACE] [--json] [--quiet] [--no-color]`\n"]
    for name, command in list_commands(group):
        parts += [f"## {name}\n", f"{inspect.cleandoc(command.help or '')}\n"]
        rows = [describe_parameter(parameter) for parameter in command.params if not parameter.hidden]
        if rows:
            parts += ["| argument | meaning | default |\n|---|---|---|\n" + "\n".join(rows) + "\n"]
    return "\n".join(parts)


def list_commands(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every command with its name, those of a group with the name of the group before."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from list_commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def describe_parameter(parameter: Any) -> str:
    """Describe one argument or option as a row of a table."""
    is_argument = parameter.param_type_name == "argument"
    name = (parameter.metavar or parameter.name.upper()) if is_argument else ", ".join(parameter.opts)
    if not is_argument and not parameter.is_flag:
        name += f" {parameter.metavar or parameter.name.upper()}"
    default = "" if parameter.default in {None, False} else f"`{parameter.default}`"
    return f"| `{escape(name)}` | {escape(parameter.help or '')} | {'required' if parameter.required else default} |"


def escape(text: str) -> str:
    """Keep a text inside one cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def declaration_page(schema: dict[str, Any]) -> str:
    """Describe every key of a declaration, section by section, from its JSON Schema."""
    definitions: dict[str, Any] = schema.get("$defs", {})
    parts = [
        "# The declaration\n",
        "Every key that a declaration may hold. `weftline schema` prints the same as JSON Schema, for editors.\n",
    ]
    for title, section in [("Top level", schema), *sorted(definitions.items())]:
        properties: dict[str, Any] = section.get("properties", {})
        if not properties:
            continue
        parts += [f"## {title}\n"]
        if section.get("description"):
            parts += [f"{inspect.cleandoc(section['description'])}\n"]
        needed = section.get("required", [])
        rows = [
            describe_key(name, definitions.get(referred(about), {}) | about, required=name in needed)
            for name, about in properties.items()
        ]
        parts += ["| key | value | default | meaning |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"]
    return "\n".join(parts)


def describe_key(name: str, about: dict[str, Any], *, required: bool) -> str:
    """Describe one key as a row of a table."""
    default = "required" if required else ""
    if isinstance(about.get("default"), dict):
        default = "optional"
    elif about.get("default") is not None:
        default = f"`{json.dumps(about['default'])}`"
    return f"| `{name}` | {escape(describe_type(about))} | {escape(default)} | {escape(about.get('description', ''))} |"


def describe_type(about: dict[str, Any]) -> str:
    """Say in words which values a schema accepts."""
    for several in ("anyOf", "oneOf"):
        if several in about:
            kinds = [describe_type(kind) for kind in about[several] if kind.get("type") != "null"]
            return " or ".join(dict.fromkeys(kinds))
    if referred(about):
        name = referred(about)
        return f"[{name}](#{name.lower()})"
    if "enum" in about:
        return ", ".join(f"`{value}`" for value in about["enum"])
    if "const" in about:
        return f"`{about['const']}`"
    if about.get("type") == "array":
        return f"list of {describe_type(about.get('items', {}))}"
    return str(about.get("type", "any")) + describe_bounds(about)


def referred(about: dict[str, Any]) -> str:
    """Name the definition that a schema refers to, if it does."""
    return str(about.get("$ref", "")).rsplit("/", 1)[-1]


def describe_bounds(about: dict[str, Any]) -> str:
    """Say the bounds of a number."""
    signs = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}
    bounds = [f"{sign} {about[key]}" for key, sign in signs.items() if key in about]
    return f" ({', '.join(bounds)})" if bounds else ""


def parts_page(catalog: Catalog) -> str:
    """List every part of the catalogue with its figures and their sources."""
    kinds: dict[str, Mapping[str, Part | AsicPart | PlatformPart]] = {
        "Switches": catalog.switches,
        "NICs": catalog.nics,
        "Hosts": catalog.hosts,
        "Cables": catalog.cables,
        "Switching chips": catalog.asics,
        "Platforms": catalog.platforms,
    }
    parts = [
        "# Parts\n",
        "The parts that a declaration may name. A figure without a public source is absent; give it under `parts`.",
        "Switching chips and platforms stand behind them: what headroom depends on, and what software can carry.\n",
    ]
    for title, catalogue in kinds.items():
        parts += [f"## {title}\n"]
        for name, part in catalogue.items():
            parts += [f"### {name}\n", describe_part(part)]
    return "\n".join(parts)


def describe_part(part: Part | AsicPart | PlatformPart) -> str:
    """Describe one part: its title, a table of figures, and where they were read."""
    figures = part.model_dump(mode="json", exclude_none=True, exclude_defaults=True, exclude={"title", "sources"})
    rows = [f"| `{key}` | {escape(describe_value(value))} |" for key, value in figures.items()]
    sources = [f"- {', '.join(source.figures)}: {source.text} ({source.date})" for source in part.sources]
    table = "| figure | value |\n|---|---|\n" + "\n".join(rows)
    return f"{part.title}\n\n{table}\n\n" + "\n".join(sources) + "\n"


def describe_value(value: Any) -> str:
    """Write a value of a part for people."""
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        return ", ".join(f"{key} {describe_value(inner)}" for key, inner in pairs)
    if isinstance(value, list):
        return "; ".join(describe_value(inner) for inner in cast("list[Any]", value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def dump_page() -> str:
    """Describe every form of file of an existing subnet, and who writes it."""
    known = {form.name: form.title for form in FORMS}
    out = [
        "# Files of a subnet that exists\n",
        "`weftline audit-fabric FOLDER` tells each file by its content, then by its name, and reads what it knows.",
        "What no file says counts as unknown, never as good. Keys are never kept: only whether one is set.\n",
        "| form | what it is | who writes it | read |\n|---|---|---|---|",
    ]
    for form in FORMS:
        is_read = "yes" if form.is_read else "known, not read"
        out.append(f"| `{form.name}` | {escape(form.title)} | {escape(form.written_by)} | {is_read} |")
    out += [
        "\n## Which topology counts\n",
        "Several files may carry nodes and links. The first of this list that is whole counts, and the others are held",
        "against it; where one says otherwise, that is a warning that names the first ports.\n",
        *(f"{place}. {known[name]}" for place, name in enumerate(EXACTNESS, 1) if name in known),
    ]
    return "\n".join(out) + "\n"


def error_page(explanations: dict[str, Explanation]) -> str:
    """List every error code with its explanation, by family."""
    parts = [
        "# Error codes\n",
        "Every failure and every problem carries a code. `weftline explain CODE` prints the section below.\n",
    ]
    codes = sorted(explanations)
    for family, members in groupby(codes, key=lambda code: code.split(".", maxsplit=1)[0]):
        parts += [f"## {family}\n"]
        for code in members:
            parts += [f"### {code}\n", f"{explanations[code].text}\n"]
    return "\n".join(parts)
