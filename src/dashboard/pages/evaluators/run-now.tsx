import { useState } from "preact/hooks";
import { singleLine } from "../../../report/text/printable.ts";
import type { Evaluator, PostedStep } from "../../api/schedule-answers.ts";
import type { Problem } from "../../api/problem.ts";
import { useDashboard } from "../../context.ts";
import { Confirm } from "../../design/confirm/confirm.tsx";
import { nextStep } from "./steps.ts";

interface RunNowProps {
  readonly evaluator: Evaluator;
  readonly onClose: () => void;
  /** In words, once it is asked for. */
  readonly done: (text: string) => void;
}

/** Asks which checkpoint is to be evaluated, whatever the cadences say, and as which step. */
export function RunNow({ evaluator, onClose, done }: RunNowProps) {
  const { api } = useDashboard();
  const { name, definition, last } = evaluator;
  const [step, setStep] = useState(String(nextStep(evaluator)));
  const [model, setModel] = useState(last?.model ?? "");
  const act = async (): Promise<Problem | null> => {
    if (!/^[1-9]\d{0,11}$/.test(step.trim())) return refused("The step must be a whole number, 1 or more.");
    if (model.trim() === "") return refused("The model must be given.");
    // The door counts as trainers do, from 0.
    const body = { step: Number(step) - 1, model: model.trim(), now: true };
    const answer = await api.ask<PostedStep>(`/evaluators/${encodeURIComponent(name)}/steps`, { method: "POST", body });
    if (!answer.ok) return answer.problem;
    const { records, due } = answer.value.data;
    const begun = records.filter(({ outcome }) => outcome === "open").length;
    done(
      begun === 0
        ? `Step ${step} was evaluated before: nothing is run again.`
        : `Step ${step}: ${singleLine(due.join(", "))} ${due.length === 1 ? "is" : "are"} about to begin.`,
    );
    return null;
  };
  return (
    <Confirm title="Evaluate a checkpoint now?" verb="Run now" act={act} onClose={onClose}>
      <p>
        It asks the model as the evaluations of a step do ({definition.evaluations.map((each) => singleLine(each.name)).join(", ")}), and costs as much, whether
        or not the step is due. What the step has already is not run again.
      </p>
      <label class="field">
        <span>Step, as the series has it</span>
        <input type="text" inputMode="numeric" maxLength={12} value={step} onInput={({ currentTarget }) => setStep(currentTarget.value)} />
      </label>
      <label class="field">
        <span>Model, as it is called where it is served</span>
        <input type="text" maxLength={500} value={model} onInput={({ currentTarget }) => setModel(currentTarget.value)} />
      </label>
    </Confirm>
  );
}

const refused = (text: string): Problem => ({ kind: "refused", status: 422, code: "invalid_request", text, hint: null });
