import { formatSeconds, thousands } from "../../../report/text/format.ts";
import type { RolloutOutline } from "../../api/answers.ts";
import { JsonView } from "../../design/text/json/json-view.tsx";
import { numbersOf } from "./row-facts.ts";

interface UsageTabProps {
  readonly outline: RolloutOutline;
  readonly messageAddress: (number: number) => string;
}

/** Turns that stand in the table; the rest are with their messages. */
const MOST_TURNS = 500;
/** Fields that say what a rollout took. */
const FIELDS: readonly string[] = ["token_usage", "usage_cost", "cache_usage", "judge_usage", "timing", "generation_ms", "scoring_ms", "total_ms"];

/** What each answer took, and the rollout in all. */
export function UsageTab({ outline, messageAddress }: UsageTabProps) {
  const { turns, fields } = outline;
  const { generation, scoring } = numbersOf(outline);
  const said = Object.fromEntries(FIELDS.filter((name) => Object.hasOwn(fields, name)).map((name) => [name, fields[name]]));
  const number = (value: number | null): string => (value === null ? "" : thousands(value));
  return (
    <>
      {turns.length === 0 ? (
        <p>
          The row does not say what each turn took
          {generation === null ? "." : `; in all ${formatSeconds(generation)} of generation and ${formatSeconds(scoring ?? 0)} of scoring.`} Runs with the state
          column edgewise_turns keep it.
        </p>
      ) : (
        <table>
          <caption class="visually-hidden">Turns</caption>
          <thead>
            <tr>
              <th scope="col">Turn</th>
              <th scope="col">Message</th>
              <th scope="col">Time</th>
              <th scope="col">Input tokens</th>
              <th scope="col">Output tokens</th>
            </tr>
          </thead>
          <tbody>
            {turns.slice(0, MOST_TURNS).map(({ message, seconds, input_tokens, output_tokens, cached }, index) => (
              <tr key={message}>
                <th scope="row">{index + 1}</th>
                <td>
                  <a href={messageAddress(message)}>#{message}</a>
                </td>
                <td class="number">{cached === true ? "from the cache" : seconds === null ? "" : formatSeconds(seconds)}</td>
                <td class="number">{number(input_tokens)}</td>
                <td class="number">{number(output_tokens)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {turns.length > MOST_TURNS ? <p>{thousands(turns.length - MOST_TURNS)} more turns stand with their messages.</p> : null}
      <section>
        <h2>In all</h2>
        {Object.keys(said).length === 0 ? <p>The row says nothing of tokens and times.</p> : <JsonView value={said} />}
      </section>
    </>
  );
}
