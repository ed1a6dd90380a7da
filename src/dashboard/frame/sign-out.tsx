import { useDashboard } from "../context.ts";

/** Access ends what it began, at an address of its own on every host. */
export function SignOut() {
  const { csrf, via } = useDashboard().viewer;
  if (via === "") return null;
  return via === "access" ? (
    <form action="/cdn-cgi/access/logout">
      <button type="submit" class="quiet">
        Sign out
      </button>
    </form>
  ) : (
    <form method="post" action="/sign-out">
      <input type="hidden" name="csrf" value={csrf} />
      <button type="submit" class="quiet">
        Sign out
      </button>
    </form>
  );
}
