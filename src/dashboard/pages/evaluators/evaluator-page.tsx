import { useMemo } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso/router";
import { panelNumber } from "../../../report/text/format.ts";
import { singleLine } from "../../../report/text/printable.ts";
import { EVALUATORS, evaluatorAddress, runAddress } from "../../address/links.ts";
import type { Evaluator, EvaluatorAnswer } from "../../api/schedule-answers.ts";
import { useDashboard } from "../../context.ts";
import { Chart } from "../../design/chart/chart.tsx";
import { Facts } from "../../design/list/facts.tsx";
import { Part } from "../../design/list/part.tsx";
import { Looked } from "../../design/looked.tsx";
import { PageTitle } from "../../frame/page-title.tsx";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { useLook } from "../../live/use-look.ts";
import { EvaluatorButtons } from "./evaluator-buttons.tsx";
import { EvaluatorSettings } from "./evaluator-settings.tsx";
import { NotServed } from "./evaluators-page.tsx";
import { pointsPlot, shownMetric } from "./points-plot.ts";
import { PostingMark } from "./posting-mark.tsx";
import { nextStep } from "./steps.ts";
import { StepTable } from "./step-table.tsx";

/** One evaluator: its metrics by step, what to keep and whether to stop, and what became of each step. */
export function EvaluatorPage() {
  const { link } = useDashboard();
  const { route } = useLocation();
  const name = useRoute().params.name ?? "";
  const look = useLook<EvaluatorAnswer>(`/evaluators/${encodeURIComponent(name)}`, {}, 5_000);
  useShortcuts([
    {
      keys: ["Escape"],
      does: "Back to the evaluators",
      run: () => {
        route(link(EVALUATORS));
        return true;
      },
    },
  ]);
  return (
    <>
      <p class="crumbs">
        <a href={link(EVALUATORS)}>Evaluators</a>
      </p>
      <PageTitle title={singleLine(name)} />
      <Looked look={look} what="this evaluator is as it was">
        {({ data }) => <Shown evaluator={data} take={(answer) => look.take(answer)} again={() => void look.refresh()} />}
      </Looked>
    </>
  );
}

interface ShownProps {
  readonly evaluator: Evaluator;
  readonly take: (answer: EvaluatorAnswer) => void;
  readonly again: () => void;
}

function Shown({ evaluator, take, again }: ShownProps) {
  const { served, definition, posting, open } = evaluator;
  return (
    <>
      {served ? null : <NotServed />}
      <EvaluatorButtons evaluator={evaluator} take={take} again={again} />
      <Advice evaluator={evaluator} />
      <Facts
        facts={[
          ["Next due", nextText(evaluator)],
          ["Unfinished", open === 0 ? "nothing" : `${open} ${open === 1 ? "evaluation" : "evaluations"} of steps`],
          ["MLflow", definition.mlflow === undefined ? null : <PostingMark key="mlflow" posting={posting} />],
        ]}
      />
      <Series evaluator={evaluator} />
      <StepTable records={evaluator.records} atWork={evaluator.at_work} />
      <EvaluatorSettings evaluator={evaluator} />
    </>
  );
}

function nextText(evaluator: Evaluator): string {
  if (evaluator.paused !== null) return "nothing while it is paused";
  if (!evaluator.definition.evaluations.some(({ run_every }) => run_every > 0)) return "when training is over";
  return `step ${nextStep(evaluator)}, once a trainer posts it`;
}

/** Which step to keep, and whether to stop. */
function Advice({ evaluator: { advice } }: { readonly evaluator: Evaluator }) {
  const { metric, mode, best, since_best, stop, stop_at } = advice;
  return (
    <Facts
      facts={[
        ["By", `${singleLine(metric)}, ${mode === "min" ? "the least" : "the most"} is best`],
        ["Best step", best === null ? "none yet" : `${best.step} (${singleLine(best.model)}): ${panelNumber(best.value)}`],
        ["Since then", best === null ? null : `${since_best} ${since_best === 1 ? "evaluation" : "evaluations"} without a better one`],
        [
          "Training",
          stop ? (
            <span key="stop" class="status failed">
              <span aria-hidden="true">■</span> may stop: patience was at its end at step {stop_at}
            </span>
          ) : (
            "goes on"
          ),
        ],
      ]}
    />
  );
}

function Series({ evaluator }: { readonly evaluator: Evaluator }) {
  const { link } = useDashboard();
  const { query, route } = useLocation();
  const names = Object.keys(evaluator.series).sort();
  const metric = shownMetric(evaluator, query.metric);
  const shown = useMemo(() => (metric === null ? null : pointsPlot(evaluator, metric)), [evaluator, metric]);
  return (
    <Part
      title="Series"
      aside={
        names.length < 2 ? null : (
          <label class="quiet-choice">
            <span class="visually-hidden">Metric</span>
            <select value={metric ?? ""} onChange={({ currentTarget }) => route(link(evaluatorAddress(evaluator.name), { metric: currentTarget.value }), true)}>
              {names.map((name) => (
                <option key={name} value={name}>
                  {singleLine(name)}
                </option>
              ))}
            </select>
          </label>
        )
      }
    >
      {shown === null || metric === null ? (
        <p role="status">No step is evaluated yet.</p>
      ) : (
        <Chart
          title={singleLine(metric)}
          says={shown.says}
          plot={shown.plot}
          onPick={(row) => {
            const run = shown.runs[row];
            if (run !== null && run !== undefined) route(link(runAddress(run)));
          }}
        />
      )}
    </Part>
  );
}
