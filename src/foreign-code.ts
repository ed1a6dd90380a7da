/**
 * What stands between the code of an environment and all else in its isolate, until it has an isolate of its own: everything that both can reach is made
 * fast before such code is loaded.
 */
import { z } from "zod";
import { createClient } from "./clients/create-client.ts";
import { CLIENT_TYPES } from "./config/plan/run-config.ts";
import { listEnvironments } from "./environments/definition/load.ts";
import { lockIntrinsics } from "./environments/definition/lock-intrinsics.ts";

/** How far the objects of a sample are followed to the classes that they are made of. */
const DEPTH = 4;

let locked = false;

/** Call it before the first foreign module is loaded. `library`: the modules that such code may import, whose classes the engine works with too. */
export function beforeForeignCode(library: readonly object[]): void {
  if (locked) return;
  const samples = [...sampleClients(), ...sampleEnvironments(), ...sampleSchemas()];
  for (const module of library) for (const value of Object.values(module)) if (typeof value === "function") lockClass(value);
  const seen = new Set<object>();
  for (const sample of samples) lockMakers(sample, DEPTH, seen);
  const { __zod_globalConfig } = globalThis as { __zod_globalConfig?: object };
  if (__zod_globalConfig !== undefined) Object.freeze(__zod_globalConfig);
  lockIntrinsics();
  // Not before: where anything of this fails, nothing foreign is loaded.
  locked = true;
}

const unread = (): never => {
  throw new Error("a sample reads nothing");
};

// Instances lead to their classes. None of them is ever used: foreign code could get hold of another's in the same way.

const sampleClients = (): readonly object[] =>
  CLIENT_TYPES.map((type) => createClient(type, { base_url: "https://sample.invalid/v1", api_key: "sample" }, { ai: { run: unread } }));

function sampleEnvironments(): readonly object[] {
  const datasets = { fetch: unread, sleep: unread, upload: unread, hub: { endpoint: "", viewer: "", token: null }, allowPrivate: false, note: unread };
  // Some have no data set of their own. None is read.
  return listEnvironments().map((definition) => definition.load({ dataset: "sample/sample" }, { datasets }));
}

function sampleSchemas(): readonly object[] {
  const text = z.string();
  const plain = [text, z.number(), z.int(), z.boolean(), z.null(), z.undefined(), z.unknown(), z.any(), z.never(), z.json(), z.date(), z.bigint()];
  const made = [z.literal("x"), z.enum(["x"]), z.array(text), z.tuple([text]), z.record(text, text), z.map(text, text), z.set(text), z.lazy(() => text)];
  const objects = [z.object({ text }), z.strictObject({ text }), z.looseObject({ text }), z.union([text, z.null()]), z.intersection(text, text)];
  const chosen = z.discriminatedUnion("kind", [z.object({ kind: z.literal("x") })]);
  const changed = [text.optional(), text.nullable(), text.default("x"), text.prefault("x"), text.catch("x"), text.readonly(), text.transform((each) => each)];
  const checked = [text.min(1).max(2).regex(/x/).trim(), text.refine(() => true), text.superRefine(() => undefined), z.preprocess((each) => each, text)];
  return [
    ...plain,
    ...made,
    ...objects,
    chosen,
    ...changed,
    ...checked,
    z.url(),
    z.email(),
    z.uuid(),
    z.iso.datetime(),
    z.coerce.number(),
    z.safeParse(text, 1).error ?? {},
  ];
}

function lockClass(made: object): void {
  Object.freeze(made);
  const { prototype } = made as { prototype?: unknown };
  if (typeof prototype === "object" && prototype !== null) lockChain(prototype);
}

/** Classes of `sample` and of what it holds. */
function lockMakers(sample: unknown, depth: number, seen: Set<object>): void {
  if (typeof sample !== "object" || sample === null || seen.has(sample)) return;
  seen.add(sample);
  lockChain(Object.getPrototypeOf(sample) as object | null);
  if (depth === 0) return;
  for (const key of Reflect.ownKeys(sample)) lockMakers(Reflect.getOwnPropertyDescriptor(sample, key)?.value, depth - 1, seen);
}

/** What the language brings is left to `lockIntrinsics`, which knows what of it must stay assignable. */
function lockChain(from: object | null): void {
  for (let at = from; at !== null && !isIntrinsic(at) && !Object.isFrozen(at); at = Object.getPrototypeOf(at) as object | null) {
    const maker: unknown = Reflect.get(at, "constructor");
    Object.freeze(at);
    if (typeof maker === "function" && maker.prototype === at) Object.freeze(maker);
  }
}

const INTRINSIC: ReadonlySet<unknown> = new Set(
  Object.getOwnPropertyNames(globalThis).flatMap((name) => {
    const value: unknown = Reflect.getOwnPropertyDescriptor(globalThis, name)?.value;
    return typeof value === "function" ? [value.prototype] : [];
  }),
);
const isIntrinsic = (value: object): boolean => INTRINSIC.has(value);
