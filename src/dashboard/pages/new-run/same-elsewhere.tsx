import { CopyButton } from "../../design/copy/copy-button.tsx";
import { useDashboard } from "../../context.ts";
import { commandLine } from "./command-line.ts";
import type { Draft } from "./draft.ts";
import { creationOf, requestText } from "./request.ts";
import type { Settings } from "./settings.ts";

/** The same run as a command and as a request, to copy. */
export function SameElsewhere({ draft, settings }: { readonly draft: Draft; readonly settings: Settings }) {
  const { viewer } = useDashboard();
  const command = commandLine(draft, settings, location.origin);
  const request = requestText(creationOf(draft, settings), {
    ...{ origin: location.origin, asksToken: viewer.via !== "", team: viewer.teams.length > 1 ? viewer.team : null },
  });
  return (
    <section aria-label="The same elsewhere">
      <h2>The same elsewhere</h2>
      <div class="said-elsewhere">
        <h3>As a command</h3>
        <CopyButton text={command.text} name="Copy the command" />
      </div>
      <pre class="wrapped">{command.text}</pre>
      {command.unsaid.length === 0 ? null : <p class="field-problem">No flag says {command.unsaid.join(", ")}: the command is without. The request has it.</p>}
      <div class="said-elsewhere">
        <h3>As a request</h3>
        <CopyButton text={request} name="Copy the request" />
      </div>
      <pre class="wrapped">{request}</pre>
      {viewer.via === "" ? null : (
        <p>
          <small>
            Both take the token from <code>EDGEWISE_TOKEN</code>: Settings, or <code>npx edgewise token create</code>, makes one.
          </small>
        </p>
      )}
    </section>
  );
}
