import { dollarsText } from "../../../report/text/cost-text.ts";
import { formatSeconds, thousands } from "../../../report/text/format.ts";
import { rangedCount, rangedText } from "../../../report/text/predicted-text.ts";
import { singleLine } from "../../../report/text/printable.ts";
import { runAddress } from "../../address/links.ts";
import type { ForecastAnswer } from "../../api/answers.ts";
import { useDashboard } from "../../context.ts";
import type { Forecast } from "./use-forecast.ts";

type Answer = ForecastAnswer["evaluations"][number];

/** What the run will take, before it is started. */
export function Cost({ forecast: { answer, problem, isAsking }, isComplete }: { readonly forecast: Forecast; readonly isComplete: boolean }) {
  return (
    <section aria-label="What it will take" aria-busy={isAsking}>
      <h2>What it will take</h2>
      <div role="status">
        {isComplete ? null : <p>It is told when the form is complete.</p>}
        {isComplete && answer === null && problem === null ? <p>Asking the service…</p> : null}
        {problem === null ? null : <p>It cannot be told: the service would not make this run.</p>}
        {answer === null ? null : <p>{callsText(answer)}</p>}
      </div>
      {answer === null ? null : <Predicted answer={answer} />}
    </section>
  );
}

/** How many calls it is at the least, which needs no run of before. */
function callsText({ num_examples: examples, rollouts_per_example: rollouts, max_concurrent }: Answer): string {
  const atOnce = max_concurrent < 1 ? "any number" : thousands(max_concurrent);
  if (examples < 1) return `All examples, ${thousands(rollouts)} rollouts of each, ${atOnce} at once: how many examples there are is not known before the run.`;
  const all = examples * rollouts;
  return `${thousands(examples)} examples × ${thousands(rollouts)} rollouts = ${thousands(all)} rollouts, ${atOnce} at once: ${thousands(all)} calls of the model or more, one for each turn.`;
}

function Predicted({ answer: { forecast, from, forecast_examples } }: { readonly answer: Answer }) {
  const { link } = useDashboard();
  if (forecast === null)
    return (
      <p>
        Tokens, money and time: not known yet, since{" "}
        {from.examples === 0 ? "no run of these settings has finished" : `${from.examples} examples are too few to tell`}. In a terminal <code>--estimate</code>{" "}
        plays the first examples and says it.
      </p>
    );
  const { calls, input_tokens, output_tokens, judge_calls, cost_usd, seconds } = forecast;
  return (
    <>
      <dl class="facts">
        <dt>Calls</dt>
        <dd>{rangedCount(calls)}</dd>
        <dt>Tokens</dt>
        <dd>
          {rangedCount(input_tokens)} input, {rangedCount(output_tokens)} output
        </dd>
        {judge_calls.expected === 0 ? null : (
          <>
            <dt>Calls of judges</dt>
            <dd>{rangedCount(judge_calls)}</dd>
          </>
        )}
        <dt>Cost</dt>
        <dd>{cost_usd === null ? "not known: the price of a model is not" : rangedText(cost_usd, dollarsText)}</dd>
        <dt>Time</dt>
        <dd>{seconds === null ? "not known: batches are answered within a day" : rangedText(seconds, formatSeconds)}</dd>
      </dl>
      <p>
        <small>
          In brackets: between these in about 90 % of runs{forecast_examples === null ? "" : `, of ${thousands(forecast_examples)} examples`}. From{" "}
          {thousands(from.examples)} examples of{" "}
          {from.runs.map((run) => (
            <a key={run} href={link(runAddress(run))}>
              {singleLine(run)}{" "}
            </a>
          ))}
        </small>
      </p>
    </>
  );
}
