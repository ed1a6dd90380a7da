/**
 * The built Worker with its objects on the clock: how often each method of theirs is called and how long it computes, and how many wake-ups
 * come. Served at `/crowd/calls`; everything else is the Worker's own.
 */
import worker, { Dispatcher as BuiltDispatcher, Registry as BuiltRegistry, Run as BuiltRun } from "./worker.js";

const calls = {};

function add(name, ms) {
  calls[name] ??= { count: 0, ms: 0, slowest: 0 };
  const of = calls[name];
  of.count += 1;
  of.ms += ms;
  of.slowest = Math.max(of.slowest, ms);
}

/** Counts what each method computes until it first waits. */
function timed(Base, object) {
  const Timed = class extends Base {};
  for (const [method, { value }] of Object.entries(Object.getOwnPropertyDescriptors(Base.prototype))) {
    if (method === "constructor" || typeof value !== "function") continue;
    Timed.prototype[method] = function (...args) {
      const start = performance.now();
      const answer = value.apply(this, args);
      add(`${object}.${method}`, performance.now() - start);
      return answer;
    };
  }
  return Timed;
}

export const Dispatcher = timed(BuiltDispatcher, "Dispatcher");
export const Registry = timed(BuiltRegistry, "Registry");
export const Run = timed(BuiltRun, "Run");

export default {
  ...worker,
  fetch(request, env, ctx) {
    return new URL(request.url).pathname === "/crowd/calls" ? Response.json(calls) : worker.fetch(request, env, ctx);
  },
  queue(batch, env) {
    add("wake-up", 0);
    return worker.queue(batch, env);
  },
};
