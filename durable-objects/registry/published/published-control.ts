import type { Result } from "../../../src/errors/result.ts";
import type { Visibility } from "../../../src/published/published-name.ts";

/** Environments that a team has published, as the door and its Registry speak of them. Times are Unix milliseconds. */
export interface PublishedVersion {
  readonly version: string;
  /** sha256 of its module, in hex. */
  readonly digest: string;
  /** Of the module and its source map together. */
  readonly bytes: number;
  /** Its beginning: the manifest has all of it. */
  readonly description: string;
  readonly created_at: number;
  readonly created_by: string;
  /** Null = it is there. A deleted one begins no run, and is pushed again with the same code only. */
  readonly deleted_at: number | null;
}

export interface PublishedEnvironment {
  readonly name: string;
  readonly visibility: Visibility;
  readonly created_at: number;
  readonly updated_at: number;
  /** In no order; deleted ones too. */
  readonly versions: readonly PublishedVersion[];
}

export interface PublishRequest {
  readonly name: string;
  readonly version: Omit<PublishedVersion, "deleted_at">;
  /** Null = it stays; that of a new environment is PRIVATE then. */
  readonly visibility: Visibility | null;
}

/** The code of one version in R2. */
export interface PublishedCode {
  readonly name: string;
  readonly version: string;
  readonly digest: string;
}

export interface PublishedControl {
  /** Null where nothing of that name was ever published. */
  publishedEnvironment(name: string): Promise<PublishedEnvironment | null>;
  /** Those that have a version, by name, each with its latest alone. */
  listPublished(): Promise<readonly PublishedEnvironment[]>;
  /** Whether a push would be taken: as `publish`, and changes nothing. */
  mayPublish(request: PublishRequest): Promise<Result<null>>;
  /** As `mayPublish`; called before anything of it is stored, so that what a push leaves behind is known. */
  beginPush(request: PublishRequest): Promise<Result<null>>;
  /** The same version with the same code once more changes nothing but the visibility. Fails with `illegal_transition` where it has other code. */
  publish(request: PublishRequest): Promise<Result<PublishedEnvironment>>;
  changeVisibility(change: { readonly name: string; readonly visibility: Visibility }): Promise<Result<PublishedEnvironment>>;
  /** `versions` null: all of them. How many were there. */
  deletePublished(deletion: { readonly name: string; readonly version: string | null; readonly now: number }): Promise<Result<number>>;
  /** Code of versions that were deleted before this, and of pushes that began before it and never ended, at most `most`; it is to be removed, and then `forgetCode` to be called. */
  codeToRemove(before: number, most: number): Promise<readonly PublishedCode[]>;
  forgetCode(removed: readonly PublishedCode[]): Promise<void>;
}
