"""What must hold of shared services: names of their own, endpoints that are declared, tenants that exist."""

from __future__ import annotations

from weftline.declare.fields import nearest
from weftline.declare.places import Places
from weftline.declare.problems import quote
from weftline.errors import Problem
from weftline.model.spec import HostsSection, SharedSpec, TenantSpec


def check_shared(
    shared: tuple[tuple[int, SharedSpec], ...],
    tenants: tuple[tuple[int, TenantSpec], ...],
    hosts: HostsSection | None,
    places: Places,
) -> list[Problem]:
    """Find services that are called as something else, or name what is not declared."""
    problems: list[Problem] = []
    owners = {tenant.name: f"tenants[{index}].name" for index, tenant in tenants}
    known = {tenant.name for _, tenant in tenants}
    extras = None if hosts is None else {extra.name for extra in hosts.extra_endpoints}
    for index, service in shared:
        if service.name in owners:
            message = f"shared[{index}].name is {service.name!r} as {owners[service.name]} is"
            where = places.value("shared", index, "name")
            problems.append(Problem("spec.duplicate-name", message, "give each its own name", where))
        owners.setdefault(service.name, f"shared[{index}].name")
        wanted = () if service.tenants == "all" else service.tenants
        problems += _check_known("tenants", index, wanted, known, "spec.unknown-tenant", places)
        if extras is not None:
            problems += _check_known("endpoints", index, service.endpoints, extras, "spec.unknown-member", places)
    return problems


def _check_known(
    key: str, index: int, names: tuple[str, ...], known: set[str], code: str, places: Places
) -> list[Problem]:
    what = "tenant" if key == "tenants" else "extra endpoint"
    problems: list[Problem] = []
    for number, name in enumerate(names):
        if name not in known:
            near = nearest(name, known)
            hint = f"did you mean {near!r}?" if near else f"declared are {', '.join(sorted(known)[:20]) or 'none'}"
            message = f"shared[{index}].{key}[{number}]: {quote(name)} is no {what} of this declaration"
            problems.append(Problem(code, message, hint, places.value("shared", index, key, number)))
    return problems
