"""Tenants that share storage under a real OpenSM: memberships, levels and keys together read back as rendered."""

from __future__ import annotations

import pytest

from tests.lab.conftest import Place

SHOP = """\
fabric: {name: shop}
technology: infiniband
hosts:
  count: 7
  gpus: 2
  rails: 2
  rate_gbps: 400
  unit_size: 4
  extra_endpoints:
    - {name: ufm, ports: 1}
    - {name: disk, ports: 1}
topology: {kind: rail-optimised}
tenants:
  - {name: red, hosts: 1-3MEMBERSHIP}
  - {name: blue, hosts: 4-6}
shared:
  - {name: store, endpoints: [disk]}
infiniband:
  managers: [ufm/1]
  allow_both: BOTH
  qos:
    classes:
      - {name: storage, sl: 1, vl: 1, weight: 64, high: true, ports: [disk]}
      - {name: train, sl: 2, vl: 2, tenants: [red]}
claims:
  required: [reach, deadlock, isolate]
"""


@pytest.mark.parametrize("membership", ["full", "limited", "both"])
def test_everything_together(place: Place, membership: str) -> None:
    text = SHOP.replace("MEMBERSHIP", f", membership: {membership}").replace("BOTH", str(membership == "both").lower())
    place.path.write_text(text, encoding="utf-8")
    ran = place.lab("up", "--json")
    assert ran.status == 0, ran.out
    (subnet,) = ran.document["subnets"]
    assert ran.document["equal"], subnet["differences"]
    assert subnet["compared"]["lanes"] > 100
    assert subnet["compared"]["arbitration"] > 16
