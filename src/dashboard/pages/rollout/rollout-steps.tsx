import { panelNumber, thousands } from "../../../report/text/format.ts";
import type { SamplePlace } from "../../address/samples-view.ts";
import { type ColumnTable, DONE, OPEN } from "../../samples/columns/column-table.ts";
import type { Neighbours } from "./neighbours.ts";

interface RolloutStepsProps {
  readonly place: SamplePlace;
  readonly neighbours: Neighbours | null;
  readonly table: ColumnTable | null;
  readonly addressOf: (place: SamplePlace) => string;
}

/** Attempts that have a link of their own. */
const MOST_ATTEMPTS = 64;

/** The ways to the rollouts before and behind this one in its list, and to the other attempts at its example. */
export function RolloutSteps({ place, neighbours, table, addressOf }: RolloutStepsProps) {
  const attempts = table === null ? [] : Array.from({ length: Math.min(table.rollouts, MOST_ATTEMPTS) }, (_, rollout) => ({ example: place.example, rollout }));
  return (
    <nav class="rollout-steps" aria-label="Rollouts">
      <Step to={neighbours?.previous ?? null} name="Previous" title="Previous rollout (←)" addressOf={addressOf} />
      <Step to={neighbours?.next ?? null} name="Next" title="Next rollout (→)" addressOf={addressOf} />
      <span class="step-count">
        {neighbours === null ? "" : `${neighbours.number === null ? "not among the" : `${thousands(neighbours.number)} of`} ${thousands(neighbours.of)}`}
      </span>
      {table === null || attempts.length < 2 ? null : (
        <ul class="attempts" aria-label="Attempts at this example">
          {attempts.map((attempt) => (
            <li key={attempt.rollout}>
              <Attempt table={table} attempt={attempt} isShown={attempt.rollout === place.rollout} addressOf={addressOf} />
            </li>
          ))}
        </ul>
      )}
    </nav>
  );
}

interface StepProps {
  readonly to: SamplePlace | null;
  readonly name: string;
  readonly title: string;
  readonly addressOf: (place: SamplePlace) => string;
}

const Step = ({ to, name, title, addressOf }: StepProps) =>
  to === null ? (
    <button type="button" disabled title={title}>
      {name}
    </button>
  ) : (
    <a class="button" href={addressOf(to)} title={title}>
      {name}
    </a>
  );

interface AttemptProps {
  readonly table: ColumnTable;
  readonly attempt: SamplePlace;
  readonly isShown: boolean;
  readonly addressOf: (place: SamplePlace) => string;
}

/** One attempt with what came of it. */
function Attempt({ table, attempt, isShown, addressOf }: AttemptProps) {
  const row = table.rowOf(attempt);
  const state = row === null ? null : table.state(row);
  const name = `Attempt ${attempt.rollout}`;
  if (row === null || (state !== DONE && state !== OPEN)) return <span class="attempt-link is-absent">{name}: not there</span>;
  const error = state === DONE ? table.error(row) : null;
  const reward = table.value("reward", row);
  const text = state === OPEN ? "not counted yet" : error !== null ? error : Number.isNaN(reward) ? "" : panelNumber(reward);
  return (
    <a class="attempt-link" href={addressOf(attempt)} aria-current={isShown ? "page" : undefined} title="Attempts of this example (h, l)">
      {name}
      {text === "" ? "" : `: ${text}`}
    </a>
  );
}
