from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("fleet", "0004_elastic")]

    operations = [
        migrations.AddField("command", "sealed", models.TextField(blank=True, default="")),
    ]
