"""The JSON of a campaign."""

from __future__ import annotations

from dataclasses import asdict

from weftline.app.campaign import Campaign, spread_of

SCHEMA = "weftline/campaign/1"


def view_campaign(campaign: Campaign) -> dict[str, object]:
    """Show the spread of each setting, and every run."""
    return {
        "schema": SCHEMA,
        "of": campaign.routes_digest,
        "title": campaign.title,
        "runs": len(campaign.outcomes),
        "seeds": list(campaign.seeds),
        "bad": len(campaign.bad),
        "settings": [
            {"setting": dict(setting.words), "spread": asdict(spread_of(campaign.of_setting(index)))}
            for index, setting in enumerate(campaign.settings)
        ],
        "outcomes": [asdict(one) for one in campaign.outcomes],
        "assumptions": list(campaign.assumptions),
    }
