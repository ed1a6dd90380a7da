import { panelNumber, thousands } from "../../../../report/text/format.ts";
import { singleLine } from "../../../../report/text/printable.ts";
import { dollarsText } from "../../../../report/text/cost-text.ts";
import { tokensText } from "../../../../report/text/turn-text.ts";
import { JUDGE_COLUMN, readJudges } from "../../../../metrics/judge-fields.ts";
import { scoreShares } from "../../../../report/score-shares.ts";
import type { ListedEvaluation, RolloutOutline } from "../../../api/answers.ts";
import { useSomeOf } from "../../../design/list/some-of.tsx";
import { JsonView } from "../../../design/text/json/json-view.tsx";
import { OwnFields } from "../own-fields.tsx";
import type { RolloutStore } from "../rollout-store.ts";
import { isOfJudges, numbersOf } from "../row-facts.ts";
import { Judgements } from "./judgements.tsx";
import { judgementsOf } from "./judgements-of.ts";
import { NotKept } from "./not-kept.tsx";

interface ScoresTabProps {
  readonly outline: RolloutOutline;
  readonly store: RolloutStore;
  readonly weights: Readonly<Record<string, number>>;
  readonly raw: boolean;
  /** Null until it is known. */
  readonly run: ListedEvaluation | null;
}

/** How the reward came to be, and what judges had to do with it. */
export function ScoresTab({ outline, store, weights, raw, run }: ScoresTabProps) {
  const { reward } = numbersOf(outline);
  const shares = scoreShares(outline.metrics, weights);
  const [shown, more] = useSomeOf(shares, "metrics");
  const judges = readJudges(outline.fields.judge_usage);
  const cost = judges?.priced;
  return (
    <>
      <table class="scores cards">
        <caption class="visually-hidden">Metrics of this rollout</caption>
        <thead>
          <tr>
            <th scope="col">Metric</th>
            <th scope="col">Score</th>
            <th scope="col">Weight</th>
            <th scope="col">Adds to the reward</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ name, value, weight, share }) => (
            <tr key={name}>
              <th scope="row" data-name="Metric">
                {singleLine(name)}
              </th>
              <td class="number" data-name="Score">
                {value === null ? "no score" : panelNumber(value)}
              </td>
              <td class="number" data-name="Weight">
                {weight === null ? "not known" : weight === 0 ? "a metric alone" : panelNumber(weight)}
              </td>
              <td class="number" data-name="Adds to the reward">
                {share === null || weight === 0 ? "" : panelNumber(share)}
              </td>
            </tr>
          ))}
          <tr>
            <th scope="row" data-name="Metric">
              reward
            </th>
            <td class="number" data-name="Score">
              {reward === null ? "not scored" : panelNumber(reward)}
            </td>
            <td />
            <td />
          </tr>
        </tbody>
      </table>
      {more}
      {outline.fields.scored_anew === undefined ? null : (
        <p>{outline.fields.scored_anew === true ? "Its example was scored anew, since rollouts of it were drawn again." : ""}</p>
      )}
      {judges === null ? null : (
        <p>
          Judges were asked {thousands(judges.requests)} {judges.requests === 1 ? "time" : "times"}: {tokensText(judges.input_tokens, judges.output_tokens)}
          {cost === undefined ? "" : `, ${dollarsText((cost.input_nano + cost.output_nano) / 1e9)}`}.
        </p>
      )}
      {Object.hasOwn(outline.fields, "answer") ? (
        <section>
          <h2>Answer of the example</h2>
          <JsonView value={outline.fields.answer} />
        </section>
      ) : null}
      {judges !== null && !hasOfJudges(outline) ? <NotKept run={run} /> : null}
      <OwnFields outline={outline} store={store} raw={raw} title="What judges saw and said" empty={null} wants={isOfJudges} draw={drawOfJudges(raw)} />
    </>
  );
}

const hasOfJudges = ({ fields, long }: RolloutOutline): boolean => [...Object.keys(fields), ...Object.keys(long)].some(isOfJudges);

const drawOfJudges = (raw: boolean) => (name: string, value: unknown) => {
  const judgements = name === JUDGE_COLUMN ? judgementsOf(value) : null;
  return judgements === null ? null : <Judgements judgements={judgements} raw={raw} />;
};
