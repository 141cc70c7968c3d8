"""The JSON Schema of a declaration, for editors and for checks without Weftline."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import models_json_schema

from weftline.declare.own import PART_MODELS
from weftline.model.spec import MAX_OWN_PARTS, FabricSpec, PartName

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def spec_schema() -> dict[str, Any]:
    """Build the JSON Schema (draft 2020-12) of a declaration, with a description of every key."""
    models = [(FabricSpec, "validation"), *((model, "validation") for model in PART_MODELS.values())]
    _, definitions = models_json_schema(models)  # pyright: ignore[reportArgumentType]
    shapes: dict[str, Any] = definitions["$defs"]
    spec: dict[str, Any] = shapes.pop("FabricSpec")
    name = TypeAdapter[str](PartName).json_schema()
    for model in PART_MODELS.values():
        _make_partial(shapes[model.__name__])
    spec["properties"]["parts"] = {
        "type": "object",
        "description": spec["properties"]["parts"]["description"],
        "default": {},
        "additionalProperties": False,
        "properties": {
            kind: {
                "type": "object",
                "description": f"Your own {kind}, by name.",
                "maxProperties": MAX_OWN_PARTS,
                "propertyNames": name,
                "additionalProperties": {"$ref": f"#/$defs/{model.__name__}"},
            }
            for kind, model in PART_MODELS.items()
        },
    }
    head = {"$schema": DIALECT, "title": "Weftline declaration", "description": spec.pop("description")}
    spec.pop("title", None)
    return {**head, **spec, "$defs": shapes}


def _make_partial(shape: dict[str, Any]) -> None:
    """Let a part of the user's own leave out what its base has."""
    shape.pop("required", None)
    shape["properties"]["base"] = {
        "type": "string",
        "description": "A part whose figures this one has, except those that are given here.",
    }
