import type { ArgumentFacts } from "../../environments/definition/describe.ts";
import type { Visibility } from "../../published/published-name.ts";

/** What the service says of environments (`/environmentshub`), as far as commands read it. */

export interface VersionFacts {
  readonly semantic_version: string;
  readonly content_hash: string;
  /** Null of an environment that came with the service. */
  readonly created_at: string | null;
}

export interface EnvironmentAnswer {
  readonly name: string;
  readonly owner: { readonly name: string };
  readonly description: string;
  readonly visibility: Visibility;
  readonly latest_version: VersionFacts;
  readonly version: VersionFacts;
  readonly metadata: {
    readonly args?: readonly ArgumentFacts[];
    readonly keys?: readonly string[];
    /** It sends requests to these. */
    readonly hosts?: readonly string[];
    readonly module?: { readonly sha256: string; readonly bytes: number };
    readonly source_map?: { readonly sha256: string; readonly bytes: number } | null;
    readonly readme?: { readonly sha256: string; readonly bytes: number } | null;
    readonly created_by?: string;
  };
}

export interface VersionAnswer {
  readonly version: string;
  readonly created_at: string | null;
  readonly created_by: string | null;
  readonly sha256: string;
  readonly bytes: number | null;
  readonly latest: boolean;
}

export interface ListedEnvironment {
  readonly name: string;
  readonly owner: { readonly name: string };
  readonly description: string;
  readonly visibility: Visibility;
  readonly latest_version: string;
  readonly updated_at: string | null;
  readonly bundled: boolean;
}

export interface PushAnswer {
  /** sha256 of the one that the version has; absent where the service knows of none. */
  readonly readme?: string | null;
  readonly name: string;
  readonly owner: { readonly name: string };
  readonly version: string;
  readonly sha256: string;
  readonly visibility: Visibility;
  readonly latest: boolean;
}
