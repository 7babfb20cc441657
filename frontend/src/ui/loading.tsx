import classes from "./loading.module.css";

/** That an answer is awaited: said only when it takes long enough to be noticed. */
export function Loading({ what }: { what: string }) {
  return (
    <p className={classes["loading"]} role="status">
      Asking the hub for {what} …
    </p>
  );
}
