import { Menu, SegmentedControl, UnstyledButton, useMantineColorScheme, type MantineColorScheme } from "@mantine/core";
import { useState } from "react";
import { useLogOut, type Me } from "@/api";
import { PasswordDialog } from "./password-dialog";
import classes from "./account-menu.module.css";

const SCHEMES = [
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
  { value: "auto", label: "Auto" },
];

const ROLES: Record<Me["role"], string> = {
  operator: "operator: may look and act",
  viewer: "viewer: may look",
};

export function AccountMenu({ me }: { me: Me }) {
  const [isChanging, setChanging] = useState(false);
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const logOut = useLogOut();
  return (
    <>
      <Menu position="bottom-end" width={240} transitionProps={{ duration: 0 }}>
        <Menu.Target>
          <UnstyledButton className={classes.name} aria-label={`Account ${me.name}`}>
            {me.name} <span aria-hidden="true">▾</span>
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>
            {me.name}, {ROLES[me.role]}
          </Menu.Label>
          <div className={classes.scheme}>
            <SegmentedControl
              fullWidth
              size="xs"
              aria-label="Colours"
              data={SCHEMES}
              value={colorScheme}
              onChange={(value) => setColorScheme(value as MantineColorScheme)}
            />
          </div>
          <Menu.Item onClick={() => setChanging(true)}>Change password</Menu.Item>
          <Menu.Item onClick={() => logOut.mutate()}>Log out</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <PasswordDialog opened={isChanging} onClose={() => setChanging(false)} />
    </>
  );
}
