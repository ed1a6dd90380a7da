import { TO_ENGINE, type ToEngine } from "../environment-protocol/to-engine.ts";

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
const isNumber = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 1;
const isRollout = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isWord = ({ unit, rollout, text }: Record<string, unknown>): boolean => isNumber(unit) && isRollout(rollout) && typeof text === "string";
const ROLES: readonly unknown[] = ["system", "user", "text", "assistant", "tool"];
const isMessage = (value: unknown): boolean => isRecord(value) && ROLES.includes(value.role);

const isTool = (value: unknown): boolean =>
  isRecord(value) &&
  typeof value.name === "string" &&
  typeof value.description === "string" &&
  isRecord(value.parameters) &&
  (value.strict === undefined || value.strict === null || typeof value.strict === "boolean");

/** What comes with every rollout is looked at by hand: the schemas cost more than all the rest. They agree: test/rules/walled/messages.test.ts. */
const OFTEN: Readonly<Record<string, (message: Record<string, unknown>) => boolean>> = {
  call: ({ call, unit, to, state, watches, request, state_values }) =>
    isNumber(call) &&
    (unit === null || isNumber(unit)) &&
    to === null &&
    (state === null || isNumber(state)) &&
    typeof watches === "boolean" &&
    (state_values === undefined || isRecord(state_values)) &&
    isRecord(request) &&
    request.kind === "response" &&
    Array.isArray(request.prompt) &&
    request.prompt.every(isMessage) &&
    isRecord(request.sampling_args) &&
    (request.model === undefined || typeof request.model === "string") &&
    Array.isArray(request.tools) &&
    request.tools.every(isTool),
  generated: isWord,
  scored: isWord,
  ended: (message) => isWord(message) && (message.state === null || isNumber(message.state)) && message.problem === undefined,
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
  const parsed = TO_ENGINE[type as keyof typeof TO_ENGINE].safeParse(raw);
  if (parsed.success) return { ok: true, message: parsed.data };
  const [issue] = parsed.error.issues;
  return { ok: false, problem: `its message ${nameOf(type)} is none: ${issue?.path.join(".") ?? ""} ${issue?.message.slice(0, 200) ?? ""}` };
}
