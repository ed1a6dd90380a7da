import { panelNumber, formatSeconds, thousands } from "../../../report/text/format.ts";
import { singleLine } from "../../../report/text/printable.ts";
import { tokensText } from "../../../report/text/turn-text.ts";
import type { RolloutOutline } from "../../api/answers.ts";
import { Notice } from "../../design/notice.tsx";
import { RawText } from "../../design/text/raw-text.tsx";
import { errorOf, numbersOf } from "./row-facts.ts";

interface RolloutHeadProps {
  readonly outline: RolloutOutline;
  readonly raw: boolean;
  readonly setRaw: (raw: boolean) => void;
}

/** What came of the rollout, in a line, and its error. */
export function RolloutHead({ outline, raw, setRaw }: RolloutHeadProps) {
  const { reward, inputTokens, outputTokens, stop, truncated, generation, scoring } = numbersOf(outline);
  const error = errorOf(outline);
  const facts: readonly (readonly [name: string, value: string | null])[] = [
    ["Reward", reward === null ? null : panelNumber(reward)],
    ["Stopped by", stop === null ? null : singleLine(stop)],
    ["Answer", truncated ? "cut off" : null],
    ["Tokens", inputTokens === null ? null : tokensText(inputTokens, outputTokens ?? 0).replace(" tokens", "")],
    ["Generated in", generation === null ? null : formatSeconds(generation)],
    ["Scored in", scoring === null ? null : formatSeconds(scoring)],
    ["Messages", thousands(outline.messages.length)],
  ];
  return (
    <>
      <div class="rollout-line">
        <dl class="rollout-facts">
          {facts.map(([name, value]) =>
            value === null ? null : (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
          )}
        </dl>
        <label class="tick">
          <input type="checkbox" checked={raw} onChange={({ currentTarget }) => setRaw(currentTarget.checked)} title="Raw or rendered (r)" />
          Raw texts
        </label>
      </div>
      {outline.open === true ? (
        <Notice role="status" tone="plain" title="Not counted yet.">
          <p>It is generated; the run counts it when all rollouts of its example are.</p>
        </Notice>
      ) : null}
      {error === null ? null : (
        <Notice role="status" tone="bad" title={error.code === null ? "Ended in an error" : `Ended in an error: ${singleLine(error.code)}`}>
          <RawText text={error.text} />
          {error.hint === null ? null : <p>{error.hint}</p>}
        </Notice>
      )}
    </>
  );
}
