import type { SettingOut } from "@/api";
import classes from "./launch.module.css";

/** The settings that hold, also where nothing was written, each with where it is from. */
export function Settings({ settings }: { settings: SettingOut[] }) {
  return (
    <details>
      <summary>Settings that hold, also where nothing is written</summary>
      <dl className={classes.settings}>
        {settings.map(({ name, value, why }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <span className="mono small">{value}</span> <span className="quiet small">{why}</span>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
