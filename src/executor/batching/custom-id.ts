/** Characters of a question's name that a request is known by: 64 bits, beside its unit and its rollout. */
const NAME_CHARACTERS = 16;
const CUSTOM_ID = /^[0-9a-f]{8}-u(\d{1,9})-r(\d{1,6})-([0-9a-f]{16})$/;

/** What a request of a job is known by at its provider. */
export interface RequestId {
  readonly unit: number;
  readonly rollout: number;
  /** Beginning of the name of its question (src/executor/answers/question.ts). */
  readonly asked: string;
}

export const requestId = (unit: number, rollout: number, questionName: string): RequestId => ({ unit, rollout, asked: questionName.slice(0, NAME_CHARACTERS) });

/**
 * At most 43 characters of [a-z0-9-]: providers take 64 of [A-Za-z0-9_-]. With the run: where a batch is known again by its requests alone, those of another run that
 * asks the same are others.
 */
export const customIdOf = (runId: string, { unit, rollout, asked }: RequestId): string => `${runId}-u${unit}-r${rollout}-${asked}`;

/** Null for one that no executor has given. */
export function requestOf(customId: string): RequestId | null {
  const [whole, unit, rollout, asked] = CUSTOM_ID.exec(customId) ?? [];
  return whole === undefined || asked === undefined ? null : { unit: Number(unit), rollout: Number(rollout), asked };
}
