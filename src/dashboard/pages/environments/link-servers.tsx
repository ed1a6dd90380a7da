import { singleLine } from "../../../report/text/printable.ts";
import type { LinkStatus } from "../../api/answers.ts";
import { useAnswer } from "../../api/use-answer.ts";
import { linkPath } from "../../api/environment-paths.ts";

const STATES: Readonly<Record<LinkStatus["data"]["servers"][number]["state"], string>> = {
  healthy: "✓ healthy",
  other_code: "✕ has other code",
  refused: "✕ refuses",
  unreachable: "✕ cannot be reached",
};

/** How each server of a linked environment is, which the service asks when the page is opened. */
export function LinkServers({ name }: { readonly name: string }) {
  const { value, problem } = useAnswer<LinkStatus>(linkPath(name));
  return (
    <section aria-label="Servers">
      <h2>Servers</h2>
      {value === null ? <p role="status">{problem === null ? "Asking its servers…" : `Its servers could not be asked: ${problem.text}`}</p> : null}
      <ul class="plain-list">
        {value?.data.servers.map(({ url, state, problem: why }) => (
          <li key={url}>
            <code>{singleLine(url)}</code> <b>{STATES[state]}</b>
            {why === null ? null : <small>{singleLine(why)}</small>}
          </li>
        ))}
      </ul>
    </section>
  );
}
