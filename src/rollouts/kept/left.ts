/**
 * Why a rollout ends here that is gone on with elsewhere: what it holds is left as it is. As the reason of a signal it ends the call under
 * way too. Known by its name: an environment may be bundled with a copy of this library of its own.
 */
export class RolloutLeft extends Error {
  override readonly name = "RolloutLeft";

  constructor(message = "the rollout goes on elsewhere, from its last turn") {
    super(message);
  }
}

/** A kept rollout cannot be gone on with, as when its sandbox has ended meanwhile: it is begun anew. */
export class NotResumed extends Error {
  override readonly name = "NotResumed";
}

const isNamed = (thrown: unknown, name: string): boolean => thrown instanceof Error && thrown.name === name;
export const isLeft = (thrown: unknown): boolean => isNamed(thrown, "RolloutLeft");
export const isNotResumed = (thrown: unknown): boolean => isNamed(thrown, "NotResumed");
