import { Menu, Modal, UnstyledButton, useMantineColorScheme, type MantineColorScheme } from "@mantine/core";
import { useState } from "react";
import { useLogOut, type Me } from "@/api";
import { Refused } from "@/ui/refused";
import { StateShape } from "@/ui/state-shape";
import { PasswordDialog } from "./password-dialog";
import classes from "./account-menu.module.css";

const SCHEMES: { value: MantineColorScheme; label: string }[] = [
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
  { value: "auto", label: "As the system has it" },
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
          <UnstyledButton className={classes.name} aria-label={`Account ${me.name}, ${me.role}`}>
            {me.name} <span className={classes.role}>{me.role}</span> <span aria-hidden="true">▾</span>
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>
            {me.name}, {ROLES[me.role]}
          </Menu.Label>
          {SCHEMES.map(({ value, label }) => (
            <Menu.Item
              key={value}
              closeMenuOnClick={false}
              onClick={() => setColorScheme(value)}
              rightSection={colorScheme === value ? <StateShape shape="tick" /> : null}
            >
              {label}
              {colorScheme === value && <span className="visually-hidden">, chosen</span>}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item onClick={() => setChanging(true)}>Change password</Menu.Item>
          <Menu.Item onClick={() => logOut.mutate()}>Log out</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={logOut.isError} onClose={() => logOut.reset()} title="Still logged in">
        {logOut.error !== null && <Refused error={logOut.error} tried="The log-out did not reach its end." />}
      </Modal>
      <PasswordDialog opened={isChanging} onClose={() => setChanging(false)} />
    </>
  );
}
