import Anthropic from "@anthropic-ai/sdk";
import type { Endpoint } from "../client.ts";
import { API_VERSION } from "./api-version.ts";

/** The `@anthropic-ai/sdk`'s client, as the routes of its kind use it. */
export class AnthropicSdk extends Anthropic {
  constructor({ base_url, api_key, headers }: Endpoint) {
    super({
      // The key stands in the header that servers of every age read, and in no other.
      apiKey: null,
      authToken: null,
      webhookKey: null,
      // Other clients' base URLs end in the version, which is in the paths of these routes.
      baseURL: base_url.replace(/\/v1\/*$/, ""),
      defaultHeaders: { "X-Api-Key": api_key, "anthropic-version": API_VERSION, ...headers },
      maxRetries: 0,
      logLevel: "off",
      // The key is the user's own, in the user's own Worker.
      dangerouslyAllowBrowser: true,
    });
  }

  /** Otherwise the SDK looks for credentials in files, and takes a base URL from them. */
  protected override _shouldResolveDefaultCredentials(): boolean {
    return false;
  }
}
