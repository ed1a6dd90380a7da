import { TO_ENGINE, type ToEngine } from "../environment-protocol/to-engine.ts";
import { RELAY_ROUTES } from "../rollouts/types.ts";

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
const isNumber = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 1;
const isRollout = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown): boolean => typeof value === "string";
const isOfRollout = ({ unit, rollout }: Record<string, unknown>): boolean => isNumber(unit) && isRollout(rollout);
const isWord = (message: Record<string, unknown>): boolean => isOfRollout(message) && isText(message.text);
const ROLES: readonly unknown[] = ["system", "user", "text", "assistant", "tool"];
const isMessage = (value: unknown): boolean => isRecord(value) && ROLES.includes(value.role);

const isTool = (value: unknown): boolean =>
  isRecord(value) &&
  typeof value.name === "string" &&
  typeof value.description === "string" &&
  isRecord(value.parameters) &&
  (value.strict === undefined || value.strict === null || typeof value.strict === "boolean");

const isRequest = ({ kind, prompt, sampling_args, model, tools }: Record<string, unknown>): boolean =>
  kind === "response" &&
  Array.isArray(prompt) &&
  prompt.every(isMessage) &&
  isRecord(sampling_args) &&
  (model === undefined || isText(model)) &&
  Array.isArray(tools) &&
  tools.every(isTool);

const ROUTES: readonly unknown[] = RELAY_ROUTES;
const isRelay = ({ kind, route, body }: Record<string, unknown>): boolean => kind === "relay" && ROUTES.includes(route) && isRecord(body);

/** What comes with every rollout is looked at by hand: the schemas cost more than all the rest. They agree: test/rules/walled/messages.test.ts. */
const OFTEN: Readonly<Record<string, (message: Record<string, unknown>) => boolean>> = {
  call: ({ call, unit, to, state, rollout, watches, request, state_values }) =>
    isNumber(call) &&
    (unit === null || isNumber(unit)) &&
    to === null &&
    (state === null || isNumber(state)) &&
    (rollout === undefined || isRollout(rollout)) &&
    typeof watches === "boolean" &&
    (state_values === undefined || isRecord(state_values)) &&
    isRecord(request) &&
    (isRelay(request) || isRequest(request)),
  generated: isWord,
  scored: isWord,
  ended: (message) =>
    isOfRollout(message) &&
    (isText(message.text) ? message.row === undefined : message.text === undefined && isText(message.row)) &&
    (message.code === undefined || isText(message.code)) &&
    (message.state === null || isNumber(message.state)) &&
    message.problem === undefined,
  played: ({ unit, fatal, aborted }) => isNumber(unit) && fatal === null && typeof aborted === "boolean",
};

export type ReadMessage = { readonly ok: true; readonly message: ToEngine } | { readonly ok: false; readonly problem: string };

const nameOf = (type: unknown): string => (typeof type === "string" ? JSON.stringify(type.slice(0, 40)) : typeof type);

/** `raw` as a message of the environment's side, or what keeps it from being one. */
export function readMessage(raw: unknown): ReadMessage {
  if (!isRecord(raw)) return { ok: false, problem: `it sent ${Array.isArray(raw) ? "a list" : typeof raw} where a message belongs` };
  const { type } = raw;
  if (typeof type !== "string" || !Object.hasOwn(TO_ENGINE, type))
    return { ok: false, problem: `it sent a message of the type ${nameOf(type)}, which there is not` };
  if (OFTEN[type]?.(raw) === true) return { ok: true, message: raw as unknown as ToEngine };
  const parsed = parsedAs(type as keyof typeof TO_ENGINE, raw);
  if (parsed === null) return { ok: false, problem: `its message ${nameOf(type)} is none: it is nested too deeply` };
  if (parsed.success) return { ok: true, message: parsed.data };
  const [issue] = parsed.error.issues;
  return { ok: false, problem: `its message ${nameOf(type)} is none: ${issue?.path.join(".") ?? ""} ${issue?.message.slice(0, 200) ?? ""}` };
}

/** Null where a schema that walks all of a value meets one that is too deep for that. */
function parsedAs(type: keyof typeof TO_ENGINE, raw: unknown) {
  try {
    return TO_ENGINE[type].safeParse(raw);
  } catch (thrown) {
    if (thrown instanceof RangeError) return null;
    throw thrown;
  }
}
