import type { Finding, KnownAnswers, Question } from "../../clients/known-answers.ts";
import { onAbort } from "../../clients/transport/on-abort.ts";
import type { RunCache } from "../../config/plan/run-config.ts";
import { askedTime } from "../../rollouts/state/asked-questions.ts";
import type { ExecutorPorts } from "../ports.ts";
import type { AnswerObjects } from "./answer-objects.ts";
import type { DeskLink } from "./desk-link.ts";
import { type AskedPlace, questionDigest, questionName } from "./question.ts";

/** Between two looks at a question that another asks: the first, and the longest. Milliseconds. */
const FIRST_LOOK_MS = 100;
const LAST_LOOK_MS = 2_000;
/** Whoever has waited so long for another's answer asks himself: the other may be kept waiting by limits that are not this run's. Milliseconds. */
const WAIT_MS = 10 * 60_000;
const DAY_MS = 24 * 60 * 60_000;
/** Of a question's name, what a rollout counts its questions by: nobody meets two alike among those of one rollout. */
const COUNTED_CHARACTERS = 16;
/** Longer is the name of no model (as `-m` has it), and an environment names what it likes. */
const MODEL_CHARACTERS = 256;

export interface TeamAnswers extends Pick<ExecutorPorts, "now" | "sleep" | "random"> {
  /** By the first digit of the digest. */
  readonly link: (digest: string) => DeskLink;
  readonly objects: AnswerObjects;
}

interface AskedFor {
  readonly digest: string;
  readonly model: string;
}

/** The answers that a team keeps, as one client of a run asks for them. */
export class KnownByTeam implements KnownAnswers {
  readonly #team: TeamAnswers;
  readonly #cache: RunCache;
  readonly #place: AskedPlace;

  constructor(team: TeamAnswers, cache: RunCache, place: AskedPlace) {
    this.#team = team;
    this.#cache = cache;
    this.#place = place;
  }

  async find(question: Question, signal: AbortSignal | null): Promise<Finding> {
    const name = await questionName(this.#place, question);
    signal?.throwIfAborted();
    // Who is of no rollout says nothing by which his attempt could be told from others.
    const asked = askedTime(question.state, `${this.#place.role} ${name.slice(0, COUNTED_CHARACTERS)}`);
    if (asked === null) return unclaimed(() => undefined);
    try {
      const digest = await questionDigest(name, asked.rollout, asked.time);
      return await this.#look({ digest, model: question.model }, signal, asked.failed);
    } catch (thrown) {
      asked.failed();
      throw thrown;
    }
  }

  async #look(asked: AskedFor, signal: AbortSignal | null, failed: () => void): Promise<Finding> {
    const { now, sleep, random, objects } = this.#team;
    const { digest } = asked;
    const link = this.#team.link(digest);
    const endsAt = now() + WAIT_MS;
    let missing = false;
    for (let wait = FIRST_LOOK_MS; now() < endsAt && !objects.isSilent; wait = Math.min(LAST_LOOK_MS, wait * 1.5)) {
      const wanted = link.want(digest, missing);
      const standing = await unlessAborted(wanted, signal, () => void wanted.then((late) => (late === "yours" ? link.drop(digest) : undefined)));
      if (standing === null || standing === "none") break;
      if (standing === "yours") return this.#claimed(asked, link, failed);
      if (standing === "kept") {
        const read = await unlessAborted(objects.read(digest), signal);
        if (read === "silent") break;
        if (read !== "none") return { kind: "kept", answer: read.answer };
        missing = true;
      } else await sleep(wait * (1 - 0.25 * random()), signal);
    }
    return unclaimed(failed);
  }

  #claimed({ digest, model }: AskedFor, link: DeskLink, failed: () => void): Finding {
    const { now, objects } = this.#team;
    return {
      kind: "ask",
      take: async (text) => {
        const stored_at = now();
        const expires_at = stored_at + this.#cache.days * DAY_MS;
        const bytes = await objects.put(digest, text, stored_at, expires_at);
        if (bytes === null) link.drop(digest);
        else await link.done({ digest, bytes, model: model.slice(0, MODEL_CHARACTERS), stored_at, expires_at });
      },
      drop: (isFailed) => {
        link.drop(digest);
        if (isFailed) failed();
      },
    };
  }
}

/** It is asked, and nobody else has anything of that. */
const unclaimed = (failed: () => void): Finding => ({
  kind: "ask",
  take: () => Promise.resolve(),
  drop: (isFailed) => {
    if (isFailed) failed();
  },
});

/** Rejects with the signal's reason when that comes first; `left` is called then, once. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | null, left: () => void = () => undefined): Promise<T> {
  if (signal === null) return work;
  return new Promise((resolve, reject) => {
    const letGo = onAbort(signal, () => {
      left();
      reject(signal.reason);
    });
    work.then(resolve, reject).finally(letGo);
  });
}
