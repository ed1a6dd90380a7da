/** How each of them is named in a request. */
export type Names = Readonly<
  Record<"endpoint" | "dataset" | "schedule" | "alert" | "message" | "evaluator" | "environment" | "link" | "limiter" | "run", string> &
    Record<"digest" | "token" | "secret" | "team" | "key", string>
>;

/** The path of a route with these names for its parameters; those of nobody in particular are the same for all. */
export function namedPath(pattern: string, names: Names): string {
  const { alert, dataset, digest, endpoint, environment, evaluator, limiter, link, message, run, schedule, secret, team, token } = names;
  return pattern
    .replace(":owner/:id", ":owner/:repository")
    .replace(":id", run)
    .replace(":digest", digest)
    .replace(":token", token)
    .replace(/:(secret|variable)/, secret)
    .replace(":environment", "reverse-text")
    .replace(":endpoint", endpoint)
    .replace(":dataset", dataset)
    .replace(":baseline", dataset)
    .replace(":schedule", schedule)
    .replace(":monitor", schedule)
    .replace(":alert", alert)
    .replace(":delivery", message)
    .replace(":evaluator", evaluator)
    .replace(":link", link)
    .replace(":limiter", limiter)
    .replace(":limit", schedule)
    .replace(":key", "THEIRS")
    .replace(":team", team)
    .replace(":user", "bob")
    .replace(":owner/:name", `${team}/${environment}`)
    .replace(":version{@[^/]+}", "@1.0.0")
    .replace(":revision", "main")
    .replace(":example/:rollout", "0/0")
    .replace(":path{.+}", "README.md");
}
