import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useState, type FormEvent } from "react";
import { useLogIn } from "@/api";
import { Refused } from "@/ui/refused";
import classes from "./log-in-page.module.css";

/** The way in. The address stays, so that whoever was sent a link arrives there. */
export function LogInPage() {
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const logIn = useLogIn();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    logIn.mutate({ username, password });
  };
  return (
    <main className={classes.page}>
      <h1>Regroup</h1>
      <p className="quiet">The control room for PyTorch Elastic jobs.</p>
      <form className={classes.form} onSubmit={submit}>
        <TextInput
          label="Name"
          name="username"
          autoComplete="username"
          autoFocus
          required
          withAsterisk={false}
          value={username}
          onChange={(event) => setUsername(event.currentTarget.value)}
        />
        <PasswordInput
          label="Password"
          name="password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          visibilityToggleButtonProps={{ "aria-label": "Show the password" }}
        />
        {logIn.error !== null && <Refused error={logIn.error} />}
        <Button type="submit" loading={logIn.isPending}>
          Log in
        </Button>
      </form>
      <p className="quiet small">
        The first run prints an operator account with its password. More accounts: make user NAME=anna ROLE=viewer.
      </p>
    </main>
  );
}
