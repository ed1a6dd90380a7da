import { canonicalJson } from "../../config/canonical-json.ts";
import { sha256Hex } from "../../config/sha256.ts";
import type { ErrorCode } from "../../errors/codes.ts";
import { EdgewiseError, type Failure, fail, failureOf, ok, type Result } from "../../errors/result.ts";
import type { Creator } from "../../schedules/state.ts";
import type { TokenUse } from "../../teams/admission.ts";
import { tokenUseOf } from "../../teams/caller.ts";
import { allows } from "../../teams/scopes.ts";
import type { AppPorts } from "../app-ports.ts";
import { expectedFailure, logUnexpected, refused } from "../errors.ts";
import type { CreateBody } from "../schemas.ts";
import { type Creation, createRuns } from "./create-runs.ts";

/** Runs that nobody asks for in person: of a schedule's due time, of a step of a training loop. Through the creation of every run, as their team and as who made what orders them. */

/** What may be otherwise in a while; anything else would be refused the next time as well. */
const PASSING: readonly ErrorCode[] = ["limit_reached", "over_budget", "storage_unavailable", "internal"];
export const isPassing = ({ code }: Failure): boolean => PASSING.includes(code);

export interface RunOrder {
  /** The same for the same order, and for no other: it makes one run, however often it is repeated. */
  readonly key: string;
  readonly creator: Creator;
  /** All of the order: the same key with another one is refused. */
  readonly order: object;
  /** What orders it, as people call it, and how they take it over from who made it. */
  readonly by: { readonly what: "schedule" | "evaluator"; readonly takenOver: string };
  /** Which of them it is of. */
  readonly maker: Pick<Creation, "schedule" | "evaluator">;
  /** Throws for what is wrong with it. */
  body(): CreateBody;
}

/** The id of its run. Never rejects. */
export async function orderedRun(ports: AppPorts, wish: RunOrder): Promise<Result<string>> {
  try {
    const token = await standing(ports, wish);
    const [run] = await createRuns(ports, {
      parts: [{ body: wish.body(), place: null }],
      idempotencyKey: wish.key,
      bodyDigest: await sha256Hex(canonicalJson(wish.order as never)),
      attended: false,
      user: wish.creator.user,
      token,
      ...wish.maker,
    });
    return run === undefined ? fail("internal", "No run was created.") : ok(run);
  } catch (thrown) {
    return { ok: false, error: failureBehind(wish.by.what, thrown) };
  }
}

function failureBehind(what: string, thrown: unknown): Failure {
  const failure = expectedFailure(thrown);
  if (failure !== null) return failure;
  logUnexpected(what, thrown);
  return failureOf(new EdgewiseError("internal", "The run could not be created; the service's log has the cause."));
}

/** Whoever made what orders it may still make runs. Throws `forbidden` where they may not. */
async function standing(ports: AppPorts, { creator: { user, token, owner }, by }: RunOrder): Promise<TokenUse | null> {
  if (owner) return null;
  const holder = await ports.directory?.holder({ user, token });
  if (holder?.teams.includes(ports.team) && allows(holder.scopes, "runs:write")) return tokenUseOf(holder);
  const lost = token === null ? `${user} is in the team no more, or may make no runs` : `the token ${token} of ${user} is revoked or over, or may make no runs`;
  throw refused({ code: "forbidden", message: `The ${by.what} runs as who made it, and ${lost}.`, hint: by.takenOver });
}
