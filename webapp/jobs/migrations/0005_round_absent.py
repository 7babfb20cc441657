from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0004_asked_for'),
    ]

    operations = [
        migrations.AddField(
            model_name='round',
            name='absent',
            field=models.JSONField(default=dict),
        ),
    ]
