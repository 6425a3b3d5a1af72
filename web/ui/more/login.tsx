// The login: a one-time link brings its secret in the fragment, which no server log sees; a token or
// secret can also be pasted.

import { again, go, login, Mark, Refusal, route, title, useEffect, useSignal } from "#app";

// command prints a login link where the daemon runs: the server knows how it was started.
const command = document.querySelector<HTMLScriptElement>("script[data-login]")?.dataset.login;

export function Login() {
  const secret = useSignal("");
  const busy = useSignal(false);
  const error = useSignal("");
  const enter = async (s: string) => {
    busy.value = true;
    error.value = "";
    try {
      await login(secretOf(s));
      if (route.peek().at === "login") go("/", true);
      again();
    } catch (e) {
      error.value = e instanceof Refusal && e.status === 401 ? "That link was used already or is too old." : (e as Error).message;
      if (route.peek().at === "login") history.replaceState(null, "", "/login");
    } finally {
      busy.value = false;
    }
  };
  useEffect(() => {
    title.value = "Log in · Holdfast";
    const r = route.peek();
    if (r.at === "login" && r.secret) void enter(r.secret);
  }, []);
  return (
    <main class="login" id="main">
      <Mark />
      <h1>Log in to Holdfast</h1>
      <p>
        On the machine where the daemon runs, type <code>{command}</code> and open the link that it prints.
      </p>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          if (secret.value.trim()) void enter(secret.value.trim());
        }}
      >
        <label for="secret">Or paste the link, its secret, or the token</label>
        <div class="login-row">
          <input id="secret" type="password" autocomplete="off" spellcheck={false} value={secret.value} onInput={(e) => (secret.value = e.currentTarget.value)} />
          <button type="submit" class="primary" disabled={busy.value || !secret.value.trim()}>
            {busy.value ? "Logging in…" : "Log in"}
          </button>
        </div>
      </form>
      <p class="login-error" role="alert">
        {error.value && `${error.value} Run “${command}” for a fresh link.`}
      </p>
    </main>
  );
}

// secretOf takes the secret out of a pasted link.
const secretOf = (s: string) => (s.includes("#") ? s.slice(s.indexOf("#") + 1) : s);
