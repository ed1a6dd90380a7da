import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { singleLine } from "../../../report/text/printable.ts";
import { EVALUATORS } from "../../address/links.ts";
import type { Evaluator, EvaluatorAnswer } from "../../api/schedule-answers.ts";
import { useDashboard } from "../../context.ts";
import { Confirm } from "../../design/confirm/confirm.tsx";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { RunNow } from "./run-now.tsx";

interface EvaluatorButtonsProps {
  readonly evaluator: Evaluator;
  readonly take: (answer: EvaluatorAnswer) => void;
  /** Looks at once: a step was posted. */
  readonly again: () => void;
}

type Asked = "run" | "pause" | "resume" | "delete";

/** What may be done with an evaluator. Each is asked first. */
export function EvaluatorButtons({ evaluator, take, again }: EvaluatorButtonsProps) {
  const { api, link } = useDashboard();
  const { route } = useLocation();
  const [asked, setAsked] = useState<Asked | null>(null);
  const [said, setSaid] = useState("");
  const [reason, setReason] = useState("");
  const { name, paused } = evaluator;
  const path = `/evaluators/${encodeURIComponent(name)}`;
  const turn = paused === null ? "pause" : "resume";
  const ask = (what: Asked): boolean => {
    setReason("");
    setAsked(what);
    return true;
  };
  const close = (): void => setAsked(null);
  const change = async (what: "pause" | "resume") => {
    const body = what === "pause" && reason.trim() !== "" ? { reason: reason.trim() } : {};
    const answer = await api.ask<EvaluatorAnswer>(`${path}/${what}`, { method: "POST", body });
    if (!answer.ok) return answer.problem;
    take(answer.value);
    setSaid(what === "pause" ? "Paused." : "Resumed.");
    return null;
  };
  useShortcuts([
    { keys: ["p"], does: "Pause or resume the evaluator", run: () => ask(turn) },
    { keys: ["b"], does: "Begin the evaluations of a step now", run: () => ask("run") },
  ]);
  return (
    <>
      <p class="row-actions">
        <button type="button" title="Run now (b)" onClick={() => ask("run")}>
          Run now
        </button>
        <button type="button" title={`${paused === null ? "Pause" : "Resume"} (p)`} onClick={() => ask(turn)}>
          {paused === null ? "Pause" : "Resume"}
        </button>
        <button type="button" onClick={() => ask("delete")}>
          Delete
        </button>
        <span role="status" class="said">
          {said}
        </span>
      </p>
      {paused === null ? null : (
        <p>
          <span class="status pending">
            <span aria-hidden="true">‖</span> Paused
          </span>{" "}
          by {singleLine(paused.by)}: {singleLine(paused.reason)}
        </p>
      )}
      {asked === "run" ? (
        <RunNow
          evaluator={evaluator}
          onClose={close}
          done={(text) => {
            setSaid(text);
            again();
          }}
        />
      ) : null}
      {asked === "pause" ? (
        <Confirm title="Pause this evaluator?" verb="Pause" act={() => change("pause")} onClose={close}>
          <p>Steps that a trainer posts meanwhile are passed over: training goes on, and they may be posted again. What is at work goes on.</p>
          <label class="field">
            <span>Why, for others</span>
            <input type="text" maxLength={200} value={reason} onInput={({ currentTarget }) => setReason(currentTarget.value)} />
          </label>
        </Confirm>
      ) : null}
      {asked === "resume" ? (
        <Confirm title="Resume this evaluator?" verb="Resume" act={() => change("resume")} onClose={close}>
          <p>Steps that are posted from now on are evaluated where they are due. Those that were passed over are not made up for.</p>
        </Confirm>
      ) : null}
      {asked === "delete" ? (
        <Confirm
          title="Delete this evaluator?"
          verb="Delete"
          tone="bad"
          act={async () => {
            const answer = await api.ask(path, { method: "DELETE" });
            if (answer.ok) route(link(EVALUATORS));
            return answer.ok ? null : answer.problem;
          }}
          onClose={close}
        >
          <p>Its definition and its series are gone for good, and steps that are posted to it are refused. Its runs stay.</p>
        </Confirm>
      ) : null}
    </>
  );
}
