/**
 * What all code of an isolate shares is made fast before the first foreign module is loaded: the language's own objects, the platform's classes, and the
 * globals that name them. Whoever replaced one would see what passes through it: keys in headers, rows of other runs.
 */

/** Objects among the globals; all functions are taken. */
const OBJECTS = [
  "Atomics",
  "Cloudflare",
  "Intl",
  "JSON",
  "Math",
  "Reflect",
  "WebAssembly",
  "caches",
  "console",
  "crypto",
  "navigator",
  "performance",
  "scheduler",
];

/** Of these every object may have its own by assignment, as packages do; what is inherited stays as it is. */
const ASSIGNED: readonly (readonly [owner: object, names: readonly string[]])[] = [
  [Object.prototype, ["toString", "toLocaleString", "valueOf", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable"]],
  [Function.prototype, ["toString"]],
  [Array.prototype, ["toString"]],
  ...[Error, AggregateError, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].map(
    ({ prototype }): readonly [object, readonly string[]] => [prototype, ["name", "message", "toString"]],
  ),
];

/** Where `constructor` stays writable, as classes of old are made by it. Nothing that it names is called by the engine. */
const MADE_BY_ASSIGNMENT: ReadonlySet<object> = new Set(ASSIGNED.slice(3).map(([owner]) => owner)).add(Object.prototype);

/** Objects that no global leads to: what functions and iterations of each kind inherit from. */
function* hidden(): Generator<object> {
  yield* [async () => undefined, function* () {}, async function* () {}];
  yield* [[], "", new Map(), new Set(), new URLSearchParams(), new Headers(), new FormData()].map((each) => each[Symbol.iterator]());
  yield* ["x"[Symbol.iterator](), "x".matchAll(/x/g), new Intl.Segmenter().segment("x")[Symbol.iterator]()];
  const { Iterator } = globalThis as unknown as { Iterator: { from(made: object): { map(change: (each: unknown) => unknown): object } } };
  yield* [Iterator.from({ next: () => ({ done: true }) }), Iterator.from([]).map((each) => each)];
  yield new Response("x").body?.values() ?? {};
}

/** Makes the intrinsics and globals of this isolate fast; what they are by then stays. Done once. */
export function lockIntrinsics(): void {
  const names = namesOfGlobals();
  const globals = names.flatMap((name) => {
    const value: unknown = Reflect.get(globalThis, name);
    return typeof value === "function" || (typeof name === "string" && OBJECTS.includes(name)) ? [value as object] : [];
  });
  // What an accessor gives is no property that could be followed.
  const given = [crypto.subtle, (globalThis as { caches?: { default: object } }).caches?.default ?? {}];
  const found = reachable([...globals, ...given, ...[...hidden()].map((each) => Object.getPrototypeOf(each) as object)]);
  for (const [owner, owned] of ASSIGNED) for (const name of owned) assignable(owner, name);
  for (const each of found) {
    if (MADE_BY_ASSIGNMENT.has(each)) lockAllButConstructor(each);
    else Object.freeze(each);
  }
  withoutModules();
  for (const name of names) pinned(name);
}

/** The global's own and those that it inherits. */
function namesOfGlobals(): readonly PropertyKey[] {
  const names = new Set<PropertyKey>();
  for (let at: object | null = globalThis; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at) as object | null)
    for (const name of Reflect.ownKeys(at)) if (name !== "constructor" && typeof name === "string") names.add(name);
  return [...names];
}

/** Everything that properties and prototypes lead to, but the global itself and bytes. */
function reachable(roots: readonly object[]): ReadonlySet<object> {
  const found = new Set<object>();
  const left: unknown[] = [...roots];
  while (left.length > 0) {
    const next = left.pop();
    if ((typeof next !== "object" && typeof next !== "function") || next === null || next === globalThis || found.has(next) || ArrayBuffer.isView(next))
      continue;
    found.add(next);
    left.push(Object.getPrototypeOf(next));
    for (const key of Reflect.ownKeys(next)) {
      const property = Reflect.getOwnPropertyDescriptor(next, key);
      left.push(property?.value, property?.get, property?.set);
    }
  }
  return found;
}

/** An assignment to an object that inherits `name` gives that object its own, as if the inherited one were writable. */
function assignable(owner: object, name: string): void {
  const property = Reflect.getOwnPropertyDescriptor(owner, name);
  if (property === undefined || !("value" in property) || property.configurable !== true) return;
  const { value, enumerable = false } = property;
  const set = function (this: object, own: unknown): void {
    if (this === owner) throw new TypeError(`${name} is shared by all code of this service and cannot be replaced`);
    Object.defineProperty(this, name, { value: own, writable: true, enumerable: true, configurable: true });
  };
  Object.defineProperty(owner, name, { get: () => value as unknown, set, enumerable, configurable: false });
}

function lockAllButConstructor(owner: object): void {
  for (const key of Reflect.ownKeys(owner)) {
    const property = Reflect.getOwnPropertyDescriptor(owner, key);
    if (property?.configurable !== true) continue;
    Object.defineProperty(owner, key, "value" in property && key !== "constructor" ? { writable: false, configurable: false } : { configurable: false });
  }
  Object.preventExtensions(owner);
}

/** `process.getBuiltinModule` gives files, modules and sources to whoever asks; Node's word for "no such module" is undefined. */
function withoutModules(): void {
  const { process } = globalThis as { process?: object };
  if (process === undefined) return;
  for (const name of ["getBuiltinModule", "binding", "_linkedBinding", "dlopen"])
    Object.defineProperty(process, name, { value: () => undefined, writable: false, configurable: false });
}

function pinned(name: PropertyKey): void {
  const own = Reflect.getOwnPropertyDescriptor(globalThis, name);
  if (own === undefined)
    Object.defineProperty(globalThis, name, { value: Reflect.get(globalThis, name), writable: false, enumerable: false, configurable: false });
  else if (own.configurable === true)
    Object.defineProperty(globalThis, name, "value" in own ? { writable: false, configurable: false } : { configurable: false });
}
