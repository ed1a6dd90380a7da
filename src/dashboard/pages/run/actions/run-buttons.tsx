import { useState } from "preact/hooks";
import { NEW_RUN, RUNS, samplesAddress } from "../../../address/links.ts";
import type { Evaluation } from "../../../api/run-answers.ts";
import { useDashboard } from "../../../context.ts";
import { CopyButton } from "../../../design/copy/copy-button.tsx";
import { Dialog } from "../../../design/dialog.tsx";
import { useShortcuts } from "../../../keyboard/use-shortcuts.ts";
import { Asked } from "./asked.tsx";
import { actionsOf } from "./run-actions.ts";
import { RawRun } from "./raw-run.tsx";
import { useActions } from "./use-actions.ts";
import type { RunStore } from "../run-store.ts";

interface RunButtonsProps {
  readonly run: Evaluation;
  readonly store: RunStore;
}

/** What can be done to the run, and where one goes from it. Nothing is shown as done before the service says so. */
export function RunButtons({ run, store }: RunButtonsProps) {
  const { link, viewer } = useDashboard();
  const actions = useActions(store);
  const { act, ask, said, shared, unshare } = actions;
  const [isRaw, setRaw] = useState(false);
  const { evaluation_id: id } = run;
  // Folders are looked at.
  const possible = viewer.folders === "" ? actionsOf(run) : [];
  const stop = possible.find((each) => each.id === "stop");
  const stopKey = {
    keys: ["s"],
    does: "Stop the run (asks first)",
    run: () => {
      if (stop !== undefined) ask(stop);
      return stop !== undefined;
    },
  };
  useShortcuts([
    ...(viewer.folders === "" ? [stopKey] : []),
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
      {possible.map((action) => (
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
      <Asked run={run} actions={actions} />
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
