import type { ToEnvironmentOf } from "../environment-protocol/to-environment.ts";
import type { KeptTurn } from "../rollouts/kept/kept-state.ts";
import { type KeptBase, StateSnapshot } from "../rollouts/kept/kept-state.ts";
import type { Client, State } from "../rollouts/types.ts";
import type { PlayedOf } from "./played-rollouts.ts";
import type { ScoredOf } from "./scored-rows.ts";

type Numbered = (signal: AbortSignal) => number;

export interface Order<Message> {
  readonly message: Message;
  readonly characters: number;
}

interface Asked {
  readonly client: Client | null;
  readonly model: string;
  readonly sampling_args: object;
  readonly independent: boolean;
  readonly deadlineMs: number | null;
  readonly stateKeys?: readonly string[] | undefined;
}

const modelOf = ({ client, model, sampling_args, independent, deadlineMs, stateKeys = [] }: Asked) => ({
  model,
  client_type: client?.type ?? "none",
  scores_texts: client?.score !== undefined,
  state_keys: [...stateKeys],
  sampling_args: sampling_args as Record<string, unknown>,
  independent,
  deadline_ms: deadlineMs,
});

const lines = (rows: ScoredOf["rows"]) => rows.map(({ index, line }) => ({ rollout: index, line }));
const size = (texts: readonly { readonly text?: string; readonly line?: string }[]): number =>
  texts.reduce((sum, { text = "", line = "" }) => sum + text.length + line.length, 0);

/** The message that begins a unit. What is generated of it and cannot be told is generated again. */
export function playOrder({ traits, input, indices, options }: PlayedOf, unit: number, numbered: Numbered): Order<ToEnvironmentOf<"play">> {
  const base: KeptBase = { input, tools: traits.toolDefs };
  const { signal, generation = signal, stored } = options;
  const known = [...(options.generated ?? [])].filter(([index]) => indices.includes(index));
  const generated = known.flatMap(([rollout, state]) => kept(rollout, state, base, options.scored?.has(rollout) === true ? "scored" : null));
  const begun = [...(options.begun ?? [])].flatMap(([rollout, { state, turn }]) => (turn === null ? [] : kept(rollout, state, base, turn)));
  const rows = stored === undefined ? [] : lines(stored.rows);
  const message: ToEnvironmentOf<"play"> = {
    type: "play",
    unit,
    input: input as unknown as ToEnvironmentOf<"play">["input"],
    rollouts: [...indices],
    ...modelOf(options),
    stops: numbered(signal),
    stops_generation: numbered(generation),
    max_retries: options.maxRetries,
    generated,
    begun,
    stored: stored === undefined ? null : { rows, columns: [...stored.stateColumns] },
    part: options.part ?? null,
    waits_for_turn: options.scoringTurn !== undefined,
    keeps_turns: options.onTurn !== undefined && traits.resumable,
    tells_all: stored !== undefined,
    columns: [...(options.stateColumns ?? [])],
  };
  return { message, characters: size([...generated, ...begun, ...rows]) };
}

function kept(rollout: number, state: State, base: KeptBase, at: KeptTurn | "scored" | null): { rollout: number; text: string }[] {
  const made = new StateSnapshot(state, base, at).text();
  return made.ok ? [{ rollout, text: made.text }] : [];
}

/** The message that has rows scored. */
export function scoreOrder({ input, rows, options }: ScoredOf, unit: number, numbered: Numbered): Order<ToEnvironmentOf<"score">> {
  const message: ToEnvironmentOf<"score"> = {
    type: "score",
    unit,
    input: input as unknown as ToEnvironmentOf<"score">["input"],
    rows: lines(rows),
    columns: [...options.stateColumns],
    ...modelOf(options),
    stops: numbered(options.signal),
    stops_generation: numbered(options.signal),
    row_only: options.rowOnly === true,
    counts_answers: options.countsAnswers === true,
    forgets: [...(options.forgets ?? [])],
    waits_for_turn: options.scoringTurn !== undefined,
  };
  return { message, characters: size(message.rows) };
}
