/** What crosses the border between an AnswerDesk and the executors that want answers, and the door. Every answer is a value; answers themselves are in R2. */
export const ANSWER_PROTOCOL = 1;
/** Answers that one request wants at most: 64 characters each, of one message. */
export const MAX_CLAIMS = 500;

/** The digest of a question (`questionDigest`), in lower-case hex: what its answer is stored under. */
export type QuestionDigest = string;

/** Who asks: claims of one executor are no claims of another, and those of an earlier boot or life of the process are nobody's. */
export interface AnswerParty {
  readonly executor: string;
  readonly boot: string;
  readonly runtime: string;
}

/** An answer that is in R2 from now on. Times are Unix milliseconds. */
export interface DoneAnswer {
  readonly digest: QuestionDigest;
  readonly bytes: number;
  /** Which model gave it, by the name that it was asked under: what is cleared may be chosen by it. */
  readonly model: string;
  readonly stored_at: number;
  readonly expires_at: number;
}

export interface DeskRequest {
  readonly protocol: typeof ANSWER_PROTOCOL;
  readonly party: AnswerParty;
  /** Answers that are wanted: taken where they are there, claimed where they are not and `claims` says so. At most MAX_CLAIMS of them. */
  readonly wants: readonly QuestionDigest[];
  readonly claims: boolean;
  /** Of `wants`, those that the desk said were there and R2 did not have. */
  readonly missing: readonly QuestionDigest[];
  /** Claims that end: with an answer, and without one. */
  readonly done: readonly DoneAnswer[];
  readonly dropped: readonly QuestionDigest[];
  /** Claims that go on: their leases begin anew. */
  readonly holds: readonly QuestionDigest[];
}

/**
 * What becomes of a question. `kept`: its answer is in R2. `yours`: nobody has it, and the claim is this executor's until its lease is over. `wait`: another
 * asks already. `none`: nobody has it (without `claims`).
 */
export type Standing = "kept" | "yours" | "wait" | "none";

export type DeskAnswer =
  | {
      readonly kind: "ok";
      /** In the order of `wants`. */
      readonly standings: readonly Standing[];
      /** From the arrival of the request: a claim that is not held again by then is anybody's. */
      readonly lease_ms: number;
    }
  /** What is stored is of another version, or the executor speaks another protocol: it goes on as without a cache, and says so. */
  | { readonly kind: "refused"; readonly message: string };

/** What is kept at one desk. Times are Unix milliseconds; null = there is nothing. */
export interface AnswerStats {
  readonly answers: number;
  readonly bytes: number;
  readonly oldest_at: number | null;
  readonly newest_at: number | null;
  /** When the first of them expires. */
  readonly expires_at: number | null;
  /** Questions that somebody asks now. */
  readonly claims: number;
}

/** An AnswerDesk's methods; the object's name is `answerDeskName` (src/teams/team-name.ts): sixteen for each team, by the first digit of the digest. */
export interface AnswerDeskControl {
  ask(request: DeskRequest): Promise<DeskAnswer>;
  /** Throws for what another version has stored. */
  stats(): Promise<AnswerStats>;
  /** From now on none of the answers is there that were stored before `before` (Unix milliseconds; null = whenever) and are of `model` (null = of any); their objects go soon after. Says how many. */
  clear(before: number | null, model: string | null): Promise<Pick<AnswerStats, "answers" | "bytes">>;
}
