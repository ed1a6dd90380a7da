import { isObject, type RowMessage } from "./row-messages.ts";

type Row = Readonly<Record<string, unknown>>;

/** What one answer of the model took, as far as its row says. */
export interface RowTurn {
  /** Number of its message. */
  readonly message: number;
  readonly seconds: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  /** The cache answered it; absent = the model did. */
  readonly cached?: true;
}

const numberOf = (value: unknown): number | null => (typeof value === "number" && Number.isFinite(value) ? value : null);

/**
 * Of rows with a state column `edgewise_turns` what that says, else the times of `timing.model` (verifiers 0.1.14 and later). Answers and messages are matched by
 * their order; where there are more of one than of the other nobody knows which is which, and nothing is said.
 */
export function turnsOfRow(row: Row, messages: readonly RowMessage[]): readonly RowTurn[] {
  const answers = messages.flatMap(({ part, message }, index) =>
    part === "completion" && (message.role === "assistant" || message.role === "text") ? [index] : [],
  );
  const known = Array.isArray(row.edgewise_turns) ? row.edgewise_turns.map(turnOf) : spansOf(row.timing).map((seconds) => ({ ...NOTHING, seconds }));
  if (known.length === 0 || known.length !== answers.length) return [];
  return known.map((turn, index) => ({ message: answers[index] ?? 0, ...turn }));
}

const NOTHING = { seconds: null, input_tokens: null, output_tokens: null };

function turnOf(turn: unknown): Omit<RowTurn, "message"> {
  if (!isObject(turn)) return NOTHING;
  return {
    seconds: numberOf(turn.seconds),
    input_tokens: numberOf(turn.input_tokens),
    output_tokens: numberOf(turn.output_tokens),
    ...(turn.cached === true ? { cached: true as const } : {}),
  };
}

function spansOf(timing: unknown): readonly (number | null)[] {
  const model = isObject(timing) ? timing.model : null;
  if (!isObject(model) || !Array.isArray(model.spans)) return [];
  return model.spans.map((span) => {
    const [start, end] = isObject(span) ? [numberOf(span.start), numberOf(span.end)] : [null, null];
    return start === null || end === null || end < start ? null : end - start;
  });
}
