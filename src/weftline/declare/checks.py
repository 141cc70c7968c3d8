"""What must hold between the sections of a declaration, each with its arithmetic."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

from weftline.declare.places import Places
from weftline.declare.problems import quote
from weftline.declare.ranges import Interval, count_hosts, parse_ranges
from weftline.declare.shapes import check_shape, check_unit
from weftline.declare.shared import check_shared
from weftline.errors import Problem
from weftline.model.risk import RiskSpec
from weftline.model.spec import (
    AUTO,
    FabricSpec,
    HostsSection,
    JobSpec,
    LosslessSection,
    SharedSpec,
    SiteSection,
    TenantSpec,
    TopologySection,
)

MAX_JOB_HOSTS = 2_000_000
"""Hosts over all jobs together: what is expanded stays small."""
_NODE = re.compile(r"(host|leaf|spine|core)-[0-9]+")


@dataclass(frozen=True, slots=True)
class Sections:
    """The sections that could be read; None or absent where one could not."""

    site: SiteSection | None
    hosts: HostsSection | None
    topology: TopologySection | None
    lossless: LosslessSection | None
    tenants: tuple[tuple[int, TenantSpec], ...]
    """Each with its index in the list."""
    jobs: tuple[tuple[int, JobSpec], ...]
    shared: tuple[tuple[int, SharedSpec], ...] = ()
    risks: tuple[tuple[int, RiskSpec], ...] = ()


def check_spec(spec: FabricSpec, places: Places) -> list[Problem]:
    """Find every contradiction between the sections of a declaration."""
    return check_sections(
        Sections(
            spec.site,
            spec.hosts,
            spec.topology,
            spec.lossless,
            tuple(enumerate(spec.tenants)),
            tuple(enumerate(spec.jobs)),
            tuple(enumerate(spec.shared)),
            tuple(enumerate(spec.risks)),
        ),
        places,
    )


def check_sections(sections: Sections, places: Places) -> list[Problem]:
    """Find every contradiction between the sections that could be read."""
    problems: list[Problem] = []
    if sections.site:
        problems += _check_management(sections.site, places)
    if sections.topology:
        problems += _check_cabling(sections.topology, places)
        problems += check_shape(sections.topology, places)
    if sections.lossless:
        problems += _check_classes(sections.lossless, places)
    problems += _check_names("tenants", ((index, tenant.name) for index, tenant in sections.tenants), places)
    problems += _check_names("jobs", ((index, job.name) for index, job in sections.jobs), places)
    problems += _check_names("risks", ((index, risk.name) for index, risk in sections.risks), places)
    problems += check_shared(sections.shared, sections.tenants, sections.hosts, places)
    if sections.hosts and sections.topology:
        problems += check_unit(sections.hosts, sections.topology, places)
    if sections.hosts:
        problems += _check_extras(sections.hosts, places)
        problems += _check_tenants(sections.hosts.count, sections.tenants, places)
        problems += _check_job_hosts(sections.hosts.count, sections.jobs, places)
        if sections.hosts.gpus != AUTO:
            problems += check_degrees(sections.jobs, sections.hosts.count, sections.hosts.gpus, places)
    return problems


def _check_management(site: SiteSection, places: Places) -> list[Problem]:
    problems: list[Problem] = []
    for index, prefix in enumerate(site.management):
        try:
            ipaddress.ip_network(prefix)
        except ValueError:
            message = f"site.management[{index}] is {quote(prefix)}, which is no address prefix"
            hint = "write network/length, as 10.0.0.0/16 or fd00::/48"
            try:
                hint = f"bits beyond the prefix length are set: write {ipaddress.ip_network(prefix, strict=False)}"
                problems.append(
                    Problem("spec.management-prefix", message, hint, places.value("site", "management", index))
                )
            except ValueError:
                problems.append(
                    Problem("spec.management-prefix", message, hint, places.value("site", "management", index))
                )
    return problems


def _check_cabling(topology: TopologySection, places: Places) -> list[Problem]:
    if topology.kind == "cabling" and topology.cabling is None:
        hint = "add topology.cabling with the path of a CSV file, or choose another kind"
        return [
            Problem(
                "spec.cabling-missing",
                "topology.kind is cabling, but no cabling list is named",
                hint,
                places.value("topology", "kind"),
            )
        ]
    if topology.kind != "cabling" and topology.cabling is not None:
        message = f"topology.cabling is only read with kind: cabling, and the kind is {topology.kind}"
        return [
            Problem(
                "spec.cabling-unused",
                message,
                "remove cabling, or write kind: cabling",
                places.key("topology", "cabling"),
            )
        ]
    return []


def _check_classes(lossless: LosslessSection, places: Places) -> list[Problem]:
    problems: list[Problem] = []
    pairs = (("cnp_priority", lossless.priority, lossless.cnp_priority), ("cnp_dscp", lossless.dscp, lossless.cnp_dscp))
    for key, data, notification in pairs:
        if data == notification:
            what = key.removeprefix("cnp_")
            message = f"lossless.{what} and lossless.{key} are both {data}"
            hint = "congestion notifications need a class of their own: choose another value for one of the two"
            where = places.value("lossless", key if places.has("lossless", key) else what)
            problems.append(Problem("spec.same-class", message, hint, where))
    return problems


def _check_names(section: str, names: Iterable[tuple[int, str]], places: Places) -> list[Problem]:
    problems: list[Problem] = []
    first: dict[str, int] = {}
    for index, name in names:
        if name in first:
            message = f"{section}[{index}].name is {name!r} as {section}[{first[name]}].name is"
            problems.append(
                Problem("spec.duplicate-name", message, "give each its own name", places.value(section, index, "name"))
            )
        first.setdefault(name, index)
    return problems


def _check_extras(hosts: HostsSection, places: Places) -> list[Problem]:
    problems: list[Problem] = []
    first: dict[str, int] = {}
    for index, extra in enumerate(hosts.extra_endpoints):
        where = places.value("hosts", "extra_endpoints", index, "name")
        if extra.name in first:
            message = f"hosts.extra_endpoints[{index}].name is {extra.name!r} as that of [{first[extra.name]}] is"
            problems.append(Problem("spec.duplicate-name", message, "give each its own name", where))
        elif _NODE.fullmatch(extra.name):
            message = f"hosts.extra_endpoints[{index}].name is {extra.name!r}, which is a name that Weftline gives"
            problems.append(Problem("spec.duplicate-name", message, "choose another name, as ufm", where))
        first.setdefault(extra.name, index)
    return problems


def _check_tenants(count: int, tenants: tuple[tuple[int, TenantSpec], ...], places: Places) -> list[Problem]:
    problems: list[Problem] = []
    owned: list[tuple[Interval, int, str]] = []
    for index, tenant in tenants:
        ranges = parse_ranges(tenant.hosts, count)
        if isinstance(ranges, str):
            problems.append(_range_problem("tenants", index, ranges, places))
        else:
            owned += [(interval, index, tenant.name) for interval in ranges]
    owned.sort()
    reach, owner_index, owner = -1, -1, ""
    for (first, last), index, name in owned:
        if first <= reach and index != owner_index:
            message = f"the tenants {owner!r} and {name!r} both own host {first + 1}"
            where = places.value("tenants", index, "hosts")
            problems.append(Problem("spec.tenant-overlap", message, "a host belongs to one tenant", where))
        if last > reach:
            reach, owner_index, owner = last, index, name
    return problems


def _check_job_hosts(count: int, jobs: tuple[tuple[int, JobSpec], ...], places: Places) -> list[Problem]:
    problems: list[Problem] = []
    total = 0
    for index, job in jobs:
        ranges = parse_ranges(job.hosts, count)
        if isinstance(ranges, str):
            problems.append(_range_problem("jobs", index, ranges, places))
        else:
            total += count_hosts(ranges)
    if total > MAX_JOB_HOSTS:
        message = f"the jobs name {total:,} hosts together; at most {MAX_JOB_HOSTS:,} can be kept"
        problems.append(Problem("spec.too-many-job-hosts", message, "declare fewer jobs", places.key("jobs")))
    return problems


def _range_problem(section: str, index: int, message: str, places: Places) -> Problem:
    hint = "write all, one host (17), a range (1-32) or several with commas (1-8,17)"
    where = places.value(section, index, "hosts")
    return Problem("spec.host-range", f"{section}[{index}].hosts: {message}", hint, where)


def check_degrees(jobs: tuple[tuple[int, JobSpec], ...], count: int, gpus: int, places: Places) -> list[Problem]:
    """Check that the parallel degrees of each job multiply to its GPUs."""
    problems: list[Problem] = []
    for index, job in jobs:
        ranges = parse_ranges(job.hosts, count)
        if isinstance(ranges, str):
            continue
        hosts = count_hosts(ranges)
        have, fixed = hosts * gpus, job.tensor_parallel * job.pipeline_parallel
        there = f"{hosts} hosts x {gpus} GPUs = {have}"
        if job.data_parallel == AUTO:
            if have % fixed:
                message = (
                    f"jobs[{index}]: {job.tensor_parallel} (tensor) x {job.pipeline_parallel} (pipeline) = {fixed}"
                )
                message += f" does not divide the GPUs of the job, {there}"
                hint = "choose degrees whose product divides the GPUs"
                problems.append(Problem("spec.parallel-degrees", message, hint, places.value("jobs", index)))
        elif fixed * job.data_parallel != have:
            message = f"jobs[{index}]: {job.tensor_parallel} (tensor) x {job.pipeline_parallel} (pipeline)"
            message += f" x {job.data_parallel} (data) = {fixed * job.data_parallel}, but the job has {there}"
            hint = (
                f"write data_parallel: {have // fixed}" if have % fixed == 0 else "choose degrees that multiply to it"
            )
            where = places.value("jobs", index, "data_parallel")
            problems.append(Problem("spec.parallel-degrees", message, hint, where))
    return problems
