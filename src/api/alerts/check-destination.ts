import type { Destination } from "../../alerts/destinations.ts";
import { addressProblem } from "../../config/endpoints/called-place.ts";
import type { AppFacts } from "../app-ports.ts";
import { invalid } from "../errors.ts";

/** Refuses a place that this service sends nothing to: deployed, an address that is not public; email where nobody sends any. `url`: null = there is none. */
export function checkDestination({ local, mails }: Pick<AppFacts, "local" | "mails">, to: Destination, url: string | null): void {
  if (to === "email") {
    if (!mails)
      throw invalid(
        ["body", "to"],
        local
          ? "must be webhook, slack or discord: the local service sends no email"
          : "must be webhook, slack or discord: this deployment sends no email. Add a send_email binding EMAIL and the variable ALERTS_FROM to wrangler.toml (docs/alerts.md)",
      );
    return;
  }
  if (url === null) throw invalid(["body", "url"], `must be given: where the ${to} is`);
  const problem = local ? null : addressProblem(url);
  if (problem !== null) throw invalid(["body", "url"], problem);
}
