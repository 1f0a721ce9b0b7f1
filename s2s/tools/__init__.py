"""What looks at gradients: `check` compares them with differences, `explain` shows what each line came from."""
