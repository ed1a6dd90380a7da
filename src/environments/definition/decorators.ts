import {
  addHandler,
  type CleanupHandler,
  type HandlerKind,
  type HandlerOptions,
  type HandlersByKind,
  type StopHandler,
  type TeardownHandler,
} from "../../rollouts/state/handlers.ts";

/**
 * Handlers as methods: `@stop({ priority: 10 }) async solved(state) { … }`. Standard (stage 3) decorators, which a bundler has to
 * compile. The method is looked up on the object when it runs, so a subclass that overrides it needs no decorator of its own, and
 * one that repeats the decorator changes the priority.
 */
type Method<This, Run extends (...args: never[]) => unknown> = (this: This, ...args: Parameters<Run>) => ReturnType<Run>;
type Decorator<Run extends (...args: never[]) => unknown> = <This extends object>(
  method: Method<This, Run>,
  context: ClassMethodDecoratorContext<This, Method<This, Run>>,
) => void;

function decorator<Kind extends HandlerKind>(kind: Kind, options: HandlerOptions): Decorator<HandlersByKind[Kind]> {
  return (_method, context) => {
    if (context.static) throw new TypeError(`@${kind} stands on a static method; handlers belong to an object`);
    const name = String(context.name);
    context.addInitializer(function () {
      const run = (...args: unknown[]): unknown => (context.access.get(this) as (...args: unknown[]) => unknown).apply(this, args);
      addHandler(this, kind, name, run as HandlersByKind[Kind], options);
    });
  };
}

/** Marks a method that says whether a rollout ends: `(state) => boolean`, sync or async. Its name becomes the row's `stop_condition`. */
export const stop = (options: HandlerOptions = {}): Decorator<StopHandler> => decorator("stop", options);

/** Marks a method that lets go of what one rollout holds: `(state) => void`. Runs before the rollout is scored, on an environment; after it, on a rubric. */
export const cleanup = (options: HandlerOptions = {}): Decorator<CleanupHandler> => decorator("cleanup", options);

/** Marks a method that lets go of what the object itself holds. */
export const teardown = (options: HandlerOptions = {}): Decorator<TeardownHandler> => decorator("teardown", options);
