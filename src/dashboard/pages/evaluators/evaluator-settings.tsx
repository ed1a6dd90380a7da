import { printableJson, singleLine } from "../../../report/text/printable.ts";
import { quoted } from "../../../report/text/shell-word.ts";
import type { Evaluator } from "../../api/schedule-answers.ts";
import { CopyButton } from "../../design/copy/copy-button.tsx";
import { Facts } from "../../design/list/facts.tsx";
import { ListTable } from "../../design/list/list-table.tsx";
import { Part } from "../../design/list/part.tsx";
import { localText } from "../../design/times.ts";
import { nextStep } from "./steps.ts";

/** What an evaluator is, how a trainer posts to it, and how it is changed. */
export function EvaluatorSettings({ evaluator }: { readonly evaluator: Evaluator }) {
  const { name, definition, created_by, created_at, updated_at } = evaluator;
  const next = nextStep(evaluator);
  const { evaluations, on_older, early_stopping, mlflow } = definition;
  const json = printableJson(definition, 2);
  const posts = `npx edgewise evaluator run ${quoted(singleLine(name))} --step ${next - 1} -m MODEL`;
  return (
    <Part title="Settings" aside={<CopyButton text={json} name="Copy the definition" />}>
      <ListTable
        caption="Evaluations"
        columns={[
          { name: "Evaluation", cell: (each) => singleLine(each.name) },
          { name: "Due", cell: ({ run_every }) => (run_every > 0 ? `each ${run_every} steps` : "when training is over") },
          { name: "Metrics", cell: ({ metrics, breakdown_keys = [] }) => singleLine([...metrics, ...breakdown_keys.map((key) => `by ${key}`)].join(", ")) },
          { name: "Environment", cell: (each) => (typeof each.eval.env_id === "string" ? singleLine(each.eval.env_id) : null) },
        ]}
        rows={evaluations}
        keyOf={(each) => each.name}
      />
      <Facts
        facts={[
          ["Older steps that are not finished", on_older],
          [
            "Patience",
            early_stopping.patience === undefined ? "without end" : `${early_stopping.patience} evaluations that are not better by ${early_stopping.min_delta}`,
          ],
          ["MLflow", mlflow === undefined ? null : singleLine(`${mlflow.tracking_uri}, run ${mlflow.run_id}`)],
          ["Runs as", singleLine(created_by)],
          ["Created", localText(created_at)],
          ["Changed", localText(updated_at)],
        ]}
      />
      <p>
        A trainer posts a step with <code>{posts}</code> <CopyButton text={posts} name="Copy" />
      </p>
      <p>
        It counts from 0, and what it calls {next - 1} is step {next} here: so many are done by then.
      </p>
      <details>
        <summary>Definition</summary>
        <pre>{json}</pre>
      </details>
    </Part>
  );
}
