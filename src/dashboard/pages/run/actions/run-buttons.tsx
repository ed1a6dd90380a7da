import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { NEW_RUN, RUNS, samplesAddress } from "../../../address/links.ts";
import type { Evaluation, Resumed, SharedLink } from "../../../api/run-answers.ts";
import type { Problem } from "../../../api/problem.ts";
import { useDashboard } from "../../../context.ts";
import { Confirm } from "../../../design/confirm/confirm.tsx";
import { CopyButton } from "../../../design/copy/copy-button.tsx";
import { Dialog } from "../../../design/dialog.tsx";
import { useShortcuts } from "../../../keyboard/use-shortcuts.ts";
import { actionsOf, type RunAction } from "./run-actions.ts";
import { RawRun } from "./raw-run.tsx";
import type { RunStore } from "../run-store.ts";

interface RunButtonsProps {
  readonly run: Evaluation;
  readonly store: RunStore;
}

/** What can be done to the run, and where one goes from it. Nothing is shown as done before the service says so. */
export function RunButtons({ run, store }: RunButtonsProps) {
  const { link } = useDashboard();
  const { act, asked, ask, said, shared, unshare } = useActions(store);
  const [isRaw, setRaw] = useState(false);
  const { evaluation_id: id } = run;
  const actions = actionsOf(run);
  const stop = actions.find((each) => each.id === "stop");
  useShortcuts([
    {
      keys: ["s"],
      does: "Stop the run (asks first)",
      run: () => {
        if (stop !== undefined) ask(stop);
        return stop !== undefined;
      },
    },
    {
      keys: ["r"],
      does: "Show the run as JSON",
      run: () => {
        setRaw(true);
        return true;
      },
    },
  ]);
  return (
    <div class="run-buttons">
      <a class="button main" href={link(samplesAddress(id))}>
        Samples
      </a>
      {actions.map((action) => (
        <button
          key={action.id}
          type="button"
          title={action.id === "stop" ? `${action.says} (s)` : action.says}
          onClick={() => (action.isLight ? void act(action) : ask(action))}
        >
          {action.name}
        </button>
      ))}
      <a class="button" href={link(RUNS, { chosen: id })} title="Choose another run in the list">
        Compare with…
      </a>
      {run.edgewise.origin === "pushed" ? null : (
        <a class="button" href={link(NEW_RUN, { from: id })}>
          Again with changes
        </a>
      )}
      <button type="button" class="quiet" title="As JSON (r)" onClick={() => setRaw(true)}>
        JSON
      </button>
      <span class="said" role="status">
        {said}
      </span>
      {asked === null ? null : (
        <Confirm title={`${asked.name}: run ${id}`} verb={asked.name} tone={asked.tone} act={() => act(asked)} onClose={() => ask(null)}>
          <p>{asked.says}</p>
        </Confirm>
      )}
      {shared === null ? null : (
        <Dialog title="Link to this run" onClose={unshare}>
          <p>Whoever has it reads this run without signing in. It is shown once: only its digest is stored.</p>
          <p>
            <code class="shared-link">{shared}</code> <CopyButton text={shared} name="Copy" />
          </p>
        </Dialog>
      )}
      {isRaw ? <RawRun run={run} onClose={() => setRaw(false)} /> : null}
    </div>
  );
}

/** `ask`: shows the question; `act`: does it. */
function useActions(store: RunStore) {
  const { api, link } = useDashboard();
  const { route } = useLocation();
  const [asked, ask] = useState<RunAction | null>(null);
  const [said, say] = useState("");
  const [shared, setShared] = useState<string | null>(null);
  const act = async (action: RunAction): Promise<Problem | null> => {
    say("Asking…");
    const answer = await api.ask<Partial<Resumed & SharedLink & { message: string }>>(action.path, { method: action.method });
    if (!answer.ok) {
      say([answer.problem.text, answer.problem.hint].filter(Boolean).join(" "));
      // It is not as it is shown.
      if (answer.problem.status === 404 || answer.problem.status === 409) void store.refresh();
      return answer.problem;
    }
    const { message = "", warnings = [], link: shown } = answer.value;
    say([message, ...warnings].filter(Boolean).join(" ") || "Done.");
    if (action.id === "delete") route(link(RUNS));
    else void store.refresh();
    if (shown) setShared(shown);
    return null;
  };
  return { act, asked, ask, said, shared, unshare: () => setShared(null) };
}
