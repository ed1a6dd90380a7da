import type { EndpointEntry } from "../../src/config/endpoints/endpoint-registry.ts";
import type { Result } from "../../src/errors/result.ts";

/** What a team calls its models by, as the door and its Registry speak of it. Times are Unix milliseconds. */
export interface StoredEndpoint {
  readonly endpoint_id: string;
  /** At least one; several are replicas, in their order. */
  readonly entries: readonly EndpointEntry[];
  readonly created_at: number;
  readonly updated_at: number;
  readonly updated_by: string;
}

export interface EndpointWrite {
  readonly entries: readonly { readonly endpoint_id: string; readonly entry: EndpointEntry }[];
  /** `add`: behind the entries that an id has, where it has none that is the same; `replace`: in their place. */
  readonly how: "add" | "replace";
  readonly user: string;
}

export interface EndpointControl {
  /** Null where the team has none of that id. */
  endpoint(id: string): Promise<StoredEndpoint | null>;
  /** By their ids. */
  listEndpoints(): Promise<readonly StoredEndpoint[]>;
  /** All of them or none; the endpoints as they are then. The same write twice is one. */
  writeEndpoints(write: EndpointWrite): Promise<Result<readonly StoredEndpoint[]>>;
  /** Whether there was one. */
  deleteEndpoint(id: string): Promise<boolean>;
}
