/** The way to sign in, and back to the view that is shown. */
export const SignIn = () => (
  <a class="button" href={`/sign-in?to=${encodeURIComponent(location.pathname + location.search + location.hash)}`}>
    Sign in
  </a>
);
