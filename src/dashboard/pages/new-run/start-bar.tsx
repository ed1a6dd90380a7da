import { printable, singleLine } from "../../../report/text/printable.ts";
import type { Problem } from "../../api/problem.ts";
import { SignIn } from "../../design/sign-in.tsx";

interface StartBarProps {
  readonly isStarting: boolean;
  /** What the environment takes is not known yet. */
  readonly isLoading: boolean;
  readonly start: () => void;
  /** Labels of fields that the form itself finds wrong, once somebody wanted to start. */
  readonly empty: readonly string[];
  /** What the service said last. */
  readonly problem: Problem | null;
  /** Of it, what is of no field. */
  readonly others: readonly string[];
  /** It is of fields, too. */
  readonly isWrong: boolean;
  /** Empties the form; null where that is another button's. */
  readonly clear: (() => void) | null;
}

/** Starts the run, and says why it cannot be. */
export function StartBar({ isStarting, isLoading, start, empty, problem, others, isWrong, clear }: StartBarProps) {
  const said = [
    ...(empty.length > 0
      ? [`${empty.length} ${empty.length === 1 ? "field is" : "fields are"} to be filled in or mended first: ${empty.map(singleLine).join(", ")}.`]
      : []),
    ...(isWrong ? ["The service would not make this run: see the marked fields."] : []),
    ...others,
  ];
  return (
    <div class="start-bar">
      <button type="button" class="main" disabled={isStarting || isLoading} aria-describedby="start-said" onClick={start}>
        {isStarting ? "Starting…" : "Start the run"}
      </button>
      {clear === null ? null : (
        <button type="button" class="quiet" onClick={clear}>
          Empty the form
        </button>
      )}
      <div id="start-said" role="status" tabIndex={-1}>
        {said.map((each) => (
          <p key={each} class="field-problem">
            ✕ {printable(each)}
          </p>
        ))}
        {problem?.hint == null ? null : <small>{printable(problem.hint)}</small>}
        {problem?.kind === "signed-out" ? <SignIn /> : null}
      </div>
    </div>
  );
}
