import type { State } from "../types.ts";

/**
 * What environments and rubrics do at the ends of a rollout and of their own life, by priority. The decorators (`decorators.ts`)
 * and the plain methods (`onStop` and its like) both end here; code that runs without a compile step uses the latter.
 */
export interface HandlerOptions {
  /** Higher first, then by name; default 0. */
  readonly priority?: number;
}

/** Whether the rollout ends now; the name of the first that says so becomes its `stop_condition`. */
export type StopHandler = (state: State) => boolean | Promise<boolean>;
/** Lets go of what one rollout holds. May run twice, when a rollout is cancelled: it must bear that. */
export type CleanupHandler = (state: State) => void | Promise<void>;
/** Lets go of what the object itself holds. */
export type TeardownHandler = () => void | Promise<void>;

export interface HandlersByKind {
  stop: StopHandler;
  cleanup: CleanupHandler;
  teardown: TeardownHandler;
}
export type HandlerKind = keyof HandlersByKind;

export interface Handler<Run> {
  readonly name: string;
  readonly priority: number;
  readonly run: Run;
}

/** A registered symbol: an environment may be bundled with a copy of this library of its own. */
const REGISTERED = Symbol.for("edgewise.handlers");

/** In the order in which they run: they are asked far more often than added. */
type Registry = { [Kind in HandlerKind]: Handler<HandlersByKind[Kind]>[] };

function registryOf(owner: object): Registry {
  const holder = owner as { [REGISTERED]?: Registry };
  const known = holder[REGISTERED];
  if (known !== undefined) return known;
  const fresh: Registry = { stop: [], cleanup: [], teardown: [] };
  Object.defineProperty(owner, REGISTERED, { value: fresh });
  return fresh;
}

/** Adds a handler to `owner`; one of the same kind and name is replaced, as a subclass replaces a method. Throws a `TypeError` for a priority that is no integer. */
export function addHandler<Kind extends HandlerKind>(
  owner: object,
  kind: Kind,
  name: string,
  run: HandlersByKind[Kind],
  { priority = 0 }: HandlerOptions = {},
): void {
  if (!Number.isSafeInteger(priority)) throw new TypeError(`the priority of ${name} is not an integer: ${priority}`);
  const registry = registryOf(owner);
  const others: readonly Handler<HandlersByKind[Kind]>[] = registry[kind].filter((handler) => handler.name !== name);
  // A new list: whoever runs through the old one goes on undisturbed.
  registry[kind] = [...others, { name, priority, run }].sort((a, b) => b.priority - a.priority || (a.name < b.name ? -1 : 1)) as Registry[Kind];
}

/** The handlers of one kind in the order in which they run: higher priority first, then by name. */
export function handlersOf<Kind extends HandlerKind>(owner: object, kind: Kind): readonly Handler<HandlersByKind[Kind]>[] {
  return registryOf(owner)[kind];
}

/** Runs all cleanup or teardown handlers of `owner` in order. One that throws does not keep the others from running; the first error is thrown at the end. */
export async function runHandlers(owner: object, kind: "cleanup", state: State): Promise<void>;
export async function runHandlers(owner: object, kind: "teardown"): Promise<void>;
export async function runHandlers(owner: object, kind: "cleanup" | "teardown", state?: State): Promise<void> {
  const handlers = handlersOf(owner, kind);
  // Most have none, and are asked for them with every rollout.
  if (handlers.length === 0) return;
  await runAll(
    handlers.map(
      ({ run }) =>
        async () =>
          (run as (state?: State) => void | Promise<void>)(state),
    ),
  );
}

/** Runs the steps in order. One that fails does not keep the others from running; the first error is thrown at the end. */
export async function runAll(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (thrown) {
      failures.push(thrown);
    }
  }
  if (failures.length > 0) throw failures[0];
}
