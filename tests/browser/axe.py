"""axe in a page: what people who use a screen reader, a keyboard or weak eyes would stumble over."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

AXE = Path(__file__).resolve().parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"

GRAVE = ("serious", "critical")

RUN = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  const placeOf = ({ html, failureSummary }) => `${html}\\n${failureSummary}`;
  return violations.map(({ id, impact, nodes }) => ({ id, impact, where: nodes.map(placeOf) }));
}"""


def bring_axe(page: Page) -> None:
    """Into every document that the page opens from now on."""
    page.add_init_script(path=AXE)


def grave_faults(page: Page, where: str) -> list[str]:
    """What axe holds to be serious or critical in the page as it is now, a text for each kind."""
    page.evaluate("document.fonts.ready")
    return [
        "\n".join([f"{where}: {found['id']} ({found['impact']})", *found["where"][:5]])
        for found in page.evaluate(RUN)
        if found["impact"] in GRAVE
    ]
